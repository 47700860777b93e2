package payments

import (
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// The names of the indexes, and of the attributes of their keys.
const (
	indexByStatus      = "Query_All_Scheduled_Payments"
	indexByTime        = "QueryAll_byTime"
	indexByTransaction = "Query_TransactionID"

	attrShard      = "Sharded-GSI-PK"
	attrStatusTime = "Status#Time"
)

// Items as they are stored. Attribute names are part of the tables' contract with other programs.
type (
	// paymentItem is a payment, in either table: its time and id are in the sort key.
	paymentItem struct {
		AccountID     ledger.AccountID     `dynamodbav:"AccountID,required"`
		At            time.Time            `dynamodbav:"ScheduledTime,keyonly"`
		ID            PaymentID            `dynamodbav:"PaymentID,keyonly"`
		Status        Status               `dynamodbav:"Status,required"`
		PayeeID       ledger.AccountID     `dynamodbav:"PayeeID,omitempty"`
		MerchantID    ledger.MerchantID    `dynamodbav:"MerchantID,omitempty"`
		Amount        money.Decimal        `dynamodbav:"Amount"`
		Currency      money.Currency       `dynamodbav:"Currency"`
		Zone          string               `dynamodbav:"Zone,omitempty"`
		Description   string               `dynamodbav:"Description,omitempty"`
		Data          []byte               `dynamodbav:"DataBlob,omitempty"`
		Version       uint64               `dynamodbav:"Version,together"`
		Attempts      int                  `dynamodbav:"Attempts,omitempty"`
		Attempt       string               `dynamodbav:"Attempt,omitempty"`
		Until         time.Time            `dynamodbav:"LeaseUntil,omitempty"`
		Reason        problem.Code         `dynamodbav:"Reason,omitempty"`
		ReasonText    string               `dynamodbav:"ReasonText,omitempty"`
		TransactionID ledger.TransactionID `dynamodbav:"TransactionID,omitempty"`
		CreatedAt     time.Time            `dynamodbav:"CreatedAt,together"`
		UpdatedAt     time.Time            `dynamodbav:"UpdatedAt,together"`
		// Key and Shard are the sort key and the partition in the index as they were found: other
		// programs write other forms. Rest is what they store in addition.
		Key   string           `dynamodbav:"@sort,keytext"`
		Shard string           `dynamodbav:"Sharded-GSI-PK,keytext"`
		Rest  singletable.Rest `dynamodbav:"@rest,rest"`
		// Part is set for rows of an index that does not hold the data.
		Part singletable.Part
	}

	// dueItem is what a worker reads of a payment in one shard of the index.
	dueItem struct {
		AccountID ledger.AccountID `dynamodbav:"AccountID"`
		At        time.Time        `dynamodbav:"ScheduledTime,keyonly"`
		ID        PaymentID        `dynamodbav:"PaymentID,keyonly"`
		Shard     string           `dynamodbav:"Sharded-GSI-PK"`
		Status    Status           `dynamodbav:"Status,required"`
		Until     time.Time        `dynamodbav:"LeaseUntil,omitempty"`
		Attempts  int              `dynamodbav:"Attempts,omitempty"`
		Attempt   string           `dynamodbav:"Attempt,omitempty"`
		UpdatedAt time.Time        `dynamodbav:"UpdatedAt"`
		Key       string           `dynamodbav:"@sort,keytext"`
	}

	// identityItem records that there is a payment with an id, where it is now, and what was asked
	// for at first. It is written before the payment and never removed.
	identityItem struct {
		ID        PaymentID        `dynamodbav:"PaymentID,required"`
		Payer     ledger.AccountID `dynamodbav:"Payer,required"`
		At        time.Time        `dynamodbav:"At,required"`
		State     Status           `dynamodbav:"State,required"`
		Archived  bool             `dynamodbav:"Archived,omitempty"`
		Hash      string           `dynamodbav:"RequestHash,required"`
		Version   uint64           `dynamodbav:"Version,required"`
		CreatedAt time.Time        `dynamodbav:"CreatedAt"`
	}

	// epochsItem holds over how many shards the index by status is spread, and since when.
	epochsItem struct {
		Epochs  []epoch `dynamodbav:"Epochs,required"`
		Version uint64  `dynamodbav:"Version"`
	}

	epoch struct {
		Count int       `dynamodbav:"Count,required"`
		From  time.Time `dynamodbav:"From"`
	}

	// leaseItem holds which worker looks after a shard, and until when.
	leaseItem struct {
		Shard string    `dynamodbav:"Shard,required"`
		Owner string    `dynamodbav:"Owner,required"`
		Until time.Time `dynamodbav:"LeaseUntil,required"`
	}

	// dayItem holds how far the move of a day into the history has come.
	dayItem struct {
		Day     string           `dynamodbav:"Day,required"`
		Phase   string           `dynamodbav:"Phase,required"`
		Totals  map[string]total `dynamodbav:"Totals,omitempty"`
		MovedAt time.Time        `dynamodbav:"MovedAt,omitempty"`
	}

	// total counts the payments of a status in a currency, and adds them up.
	total struct {
		Count int           `dynamodbav:"Count,required"`
		Sum   money.Decimal `dynamodbav:"Sum,required"`
	}
)

// narrow lists what an index has of a payment in addition to keys: all but the data, so that lists
// need no second read, and an entry stays within one write unit.
var narrow = []string{
	"Status", "PayeeID", "MerchantID", "Amount", "Currency", "Zone", "Description", "Version",
	"Attempts", "Attempt", "LeaseUntil", "Reason", "ReasonText", "TransactionID", "CreatedAt",
	"UpdatedAt",
}

// Inputs of the patterns.
type (
	// ByID names a payment.
	ByID struct{ PaymentID PaymentID }
	// ByAccount names an account and a range of time, [From, To).
	ByAccount struct {
		AccountID ledger.AccountID
		From, To  *time.Time
	}
	// ByStatus names a status and a range of time, [From, To), over all accounts.
	ByStatus struct {
		Status   Status
		From, To *time.Time
	}
	// ByTime is a range of time, [From, To), over all accounts.
	ByTime struct{ From, To *time.Time }
	// ByTransaction names a transaction of the ledger.
	ByTransaction struct{ TransactionID ledger.TransactionID }
	// InShard names a status within one shard and a range of time, [From, To).
	InShard struct {
		Shard    string
		Status   Status
		From, To *time.Time
	}
	// ByDay names a day.
	ByDay struct{ Day string }
)

// model is the design of both tables under one list of epochs.
type model struct {
	epochs             []epoch
	scheduler, history *singletable.Table

	payments, past *singletable.Entity[paymentItem]
	identities     *singletable.Entity[identityItem]
	control        *singletable.Entity[epochsItem]
	leases         *singletable.Entity[leaseItem]
	days           *singletable.Entity[dayItem]

	fields      fields
	identity    identityFields
	pastVersion singletable.Field[paymentItem, uint64]
	leaseOwner  singletable.Field[leaseItem, string]
	leaseUntil  singletable.Field[leaseItem, time.Time]
	controlled  singletable.Field[epochsItem, uint64]

	byID          *singletable.Pattern[ByID, identityItem]
	ofAccount     *singletable.Pattern[ByAccount, paymentItem]
	byStatus      *singletable.Pattern[ByStatus, paymentItem]
	pastOfAccount *singletable.Pattern[ByAccount, paymentItem]
	pastByStatus  *singletable.Pattern[ByStatus, paymentItem]
	pastByTime    *singletable.Pattern[ByTime, paymentItem]
	byTransaction *singletable.Pattern[ByTransaction, paymentItem]
	dayByName     *singletable.Pattern[ByDay, dayItem]

	due *singletable.Pattern[InShard, dueItem]

	// These ask both tables, as a payment may be on its way from one to the other.
	allOfAccount *singletable.Union[ByAccount, paymentItem]
	allByStatus  *singletable.Union[ByStatus, paymentItem]
	allByTime    *singletable.Union[ByTime, paymentItem]
}

// fields are the parts of a payment that its life changes.
type fields struct {
	status      singletable.Field[paymentItem, Status]
	payee       singletable.Field[paymentItem, ledger.AccountID]
	merchant    singletable.Field[paymentItem, ledger.MerchantID]
	amount      singletable.Field[paymentItem, money.Decimal]
	description singletable.Field[paymentItem, string]
	version     singletable.Field[paymentItem, uint64]
	attempts    singletable.Field[paymentItem, int]
	attempt     singletable.Field[paymentItem, string]
	until       singletable.Field[paymentItem, time.Time]
	reason      singletable.Field[paymentItem, problem.Code]
	reasonText  singletable.Field[paymentItem, string]
	transaction singletable.Field[paymentItem, ledger.TransactionID]
	updated     singletable.Field[paymentItem, time.Time]
}

type identityFields struct {
	at       singletable.Field[identityItem, time.Time]
	state    singletable.Field[identityItem, Status]
	archived singletable.Field[identityItem, bool]
	version  singletable.Field[identityItem, uint64]
}

// ring names the shards of the index by status.
const ring = "shards"

// modelOf returns the model of a scheduler. The field does not have that type so that the compiler
// sees no type of the kit behind a Scheduler: every package that names one would compile all of
// them again.
func modelOf(s *Scheduler) *model { return s.model.Load().(*model) }

// newModel builds the design of the seed, whose names and formats of keys are a contract. What the
// scheduler keeps for itself is in partitions whose keys begin with "@payments#".
func newModel(o Options, epochs []epoch) *model {
	m := &model{epochs: epochs}
	m.scheduler = singletable.NewTable(o.TableName,
		singletable.Keys("AccountID", "ScheduledTime"),
		singletable.GSI(indexByStatus, attrShard, attrStatusTime, o.Projection.option()...))
	m.history = singletable.NewTable(o.HistoryTableName,
		singletable.Keys("AccountID", "Timestamp"),
		singletable.GSI(indexByStatus, attrShard, attrStatusTime, o.Projection.option()...),
		singletable.GSI(indexByTime, attrShard, "Timestamp", o.Projection.option()...),
		singletable.GSI(indexByTransaction, "TransactionID", "", singletable.KeysOnly()))
	m.definePayments()
	m.defineOwn()
	m.defineFields()
	m.definePatterns(o)
	m.defineUnions()
	return m
}

func (m *model) shards() singletable.EntityOption {
	epochs := make([]singletable.Epoch, len(m.epochs))
	for i, e := range m.epochs {
		epochs[i] = singletable.Epoch{Count: e.Count, From: e.From}
	}
	return singletable.Shards(ring, "ScheduledTime", epochs...)
}

const (
	templateTime   = "<ScheduledTime:millis>#<PaymentID>"
	templateShard  = "<PaymentID:shard(" + ring + ")>"
	templateStatus = "<Status>#" + templateTime
	// Another program may schedule one payment of an account a second, with nothing but the time
	// in the keys, as the design allows.
	templateBareTime   = "<ScheduledTime:millis>"
	templateBareStatus = "<Status>#" + templateBareTime
)

func (m *model) definePayments() {
	statuses := make([]string, 0, len(Statuses()))
	for _, s := range Statuses() {
		statuses = append(statuses, string(s))
	}
	common := []singletable.EntityOption{
		singletable.Discriminator("Type", "Payment"), singletable.Enum("Status", statuses...),
		m.shards(), singletable.Primary("<AccountID>", templateTime), singletable.Typical(8192),
		singletable.ReadAs("ScheduledTime", templateBareTime),
		singletable.ReadAs("Timestamp", templateBareTime),
		singletable.ReadAs(attrStatusTime, templateBareStatus), singletable.Sound(soundPayment),
		singletable.On(indexByStatus, templateShard, templateStatus),
	}
	common = common[:len(common):len(common)] // What is appended for one is not the other's.
	m.payments = singletable.NewEntity[paymentItem](m.scheduler, "Payment", append(common,
		singletable.About("A payment that is not archived yet"))...)
	m.past = singletable.NewEntity[paymentItem](m.history, "PastPayment", append(common,
		singletable.About("A payment that came to its end"),
		singletable.On(indexByTime, templateShard, templateTime),
		singletable.On(indexByTransaction, "<TransactionID>", "", singletable.Sparse()))...)
}

// defineOwn defines the scheduler's own items.
func (m *model) defineOwn() {
	const kind = "Type"
	m.identities = singletable.NewEntity[identityItem](m.scheduler, "PaymentIdentity",
		singletable.Discriminator(kind, "PaymentIdentity"),
		singletable.Primary("@payments#identity#<PaymentID>", "IDENTITY"),
		singletable.About("Where the payment with an id stands, and what was asked for at first"))
	m.control = singletable.NewEntity[epochsItem](m.scheduler, "ShardEpochs",
		singletable.Discriminator(kind, "ShardEpochs"),
		singletable.Primary("@payments#control#shards", "EPOCHS"),
		singletable.About("Over how many shards the index by status is spread, and since when"))
	m.leases = singletable.NewEntity[leaseItem](m.scheduler, "ShardLease",
		singletable.Discriminator(kind, "ShardLease"),
		singletable.Primary("@payments#lease#<Shard>", "LEASE"),
		singletable.About("Which worker looks after a shard"))
	m.days = singletable.NewEntity[dayItem](m.scheduler, "MovedDay",
		singletable.Discriminator(kind, "MovedDay"),
		singletable.Primary("@payments#day#<Day>", "DAY"),
		singletable.About("How far the move of a day into the history has come"))
}

func (m *model) defineFields() {
	p, i := m.payments, m.identities
	type item = paymentItem
	m.fields = fields{
		status:   singletable.FieldOf(p, func(i *item) *Status { return &i.Status }),
		payee:    singletable.FieldOf(p, func(i *item) *ledger.AccountID { return &i.PayeeID }),
		merchant: singletable.FieldOf(p, func(i *item) *ledger.MerchantID { return &i.MerchantID }),
		amount:   singletable.FieldOf(p, func(i *item) *money.Decimal { return &i.Amount }),
		description: singletable.FieldOf(p,
			func(i *item) *string { return &i.Description }),
		version:    singletable.FieldOf(p, func(i *item) *uint64 { return &i.Version }),
		attempts:   singletable.FieldOf(p, func(i *item) *int { return &i.Attempts }),
		attempt:    singletable.FieldOf(p, func(i *item) *string { return &i.Attempt }),
		until:      singletable.FieldOf(p, func(i *item) *time.Time { return &i.Until }),
		reason:     singletable.FieldOf(p, func(i *item) *problem.Code { return &i.Reason }),
		reasonText: singletable.FieldOf(p, func(i *item) *string { return &i.ReasonText }),
		transaction: singletable.FieldOf(p,
			func(i *item) *ledger.TransactionID { return &i.TransactionID }),
		updated: singletable.FieldOf(p, func(i *item) *time.Time { return &i.UpdatedAt }),
	}
	m.identity = identityFields{
		at:       singletable.FieldOf(i, func(i *identityItem) *time.Time { return &i.At }),
		state:    singletable.FieldOf(i, func(i *identityItem) *Status { return &i.State }),
		archived: singletable.FieldOf(i, func(i *identityItem) *bool { return &i.Archived }),
		version:  singletable.FieldOf(i, func(i *identityItem) *uint64 { return &i.Version }),
	}
	m.pastVersion = singletable.FieldOf(m.past, func(i *item) *uint64 { return &i.Version })
	m.leaseOwner = singletable.FieldOf(m.leases, func(i *leaseItem) *string { return &i.Owner })
	m.leaseUntil = singletable.FieldOf(m.leases, func(i *leaseItem) *time.Time { return &i.Until })
	m.controlled = singletable.FieldOf(m.control, func(i *epochsItem) *uint64 { return &i.Version })
}

func (m *model) definePatterns(o Options) {
	describe, index := singletable.Describe, singletable.UseIndex
	between := singletable.Between("ScheduledTime", "From", "To")
	whole := o.Projection.rows()
	m.byID = singletable.NewLookup[ByID](m.identities, "payment-by-id", singletable.Consistent(),
		describe("Where the payment with an id stands now; it is then one more read away"))
	m.ofAccount = singletable.NewQuery[ByAccount](m.payments, "payments-of-account", between,
		singletable.Consistent(),
		describe("The payments of an account that are due in a range of time"))
	m.byStatus = singletable.NewQuery[ByStatus](m.payments, "payments-by-status", between,
		index(indexByStatus), whole,
		describe("The payments of all accounts with a status that are due in a range of time"))
	m.pastOfAccount = singletable.NewQuery[ByAccount](m.past, "history-of-account", between,
		singletable.Consistent(),
		describe("The archived payments of an account in a range of time"))
	m.pastByStatus = singletable.NewQuery[ByStatus](m.past, "history-by-status", between,
		index(indexByStatus), whole,
		describe("The archived payments of all accounts with a status in a range of time"))
	m.pastByTime = singletable.NewQuery[ByTime](m.past, "history-by-time", between,
		index(indexByTime), whole,
		describe("The archived payments of all accounts in a range of time"))
	m.byTransaction = singletable.NewQuery[ByTransaction](m.past, "payment-by-transaction",
		index(indexByTransaction), singletable.Hydrate(), singletable.Rows(1),
		describe("The archived payment that a transaction of the ledger settled"))
	m.dayByName = singletable.NewLookup[ByDay](m.days, "moved-day", singletable.Consistent(),
		describe("How far the move of a day into the history has come"))

	// One shard by its name. The tables are the same ones again: these are views of the index whose
	// partition is an input, where elsewhere it follows from the payment's id.
	view := func(t *singletable.Table) *singletable.Table {
		return singletable.NewTable(t.Name(), t.Keys(), singletable.GSI(indexByStatus, attrShard,
			attrStatusTime, o.Projection.option()...))
	}
	common := []singletable.EntityOption{
		singletable.Primary("<AccountID>", templateTime),
		singletable.On(indexByStatus, "<"+attrShard+">", templateStatus),
		singletable.ReadAs("ScheduledTime", templateBareTime),
		singletable.ReadAs(attrStatusTime, templateBareStatus),
	}
	m.due = singletable.NewQuery[InShard](
		singletable.NewEntity[dueItem](view(m.scheduler), "DuePayment", common...),
		"payments-in-shard", index(indexByStatus), between, whole)
}

// orderOf is the order of the rows of one status or of one account: that of their sort keys. What
// other programs scheduled for one second has equal keys in several shards and accounts.
func orderOf(i paymentItem) string {
	if i.ID != "" {
		return i.Key
	}
	return fmt.Sprintf("%s\x00%6s\x00%s", i.Key, i.Shard, i.AccountID)
}

func (m *model) defineUnions() {
	m.allOfAccount = singletable.NewUnion("all-payments-of-account", orderOf,
		same(m.ofAccount), same(m.pastOfAccount))
	m.allByStatus = singletable.NewUnion("all-payments-by-status", orderOf,
		same(m.byStatus), same(m.pastByStatus))
	var legs []singletable.Leg[ByTime, paymentItem]
	for _, status := range Statuses() {
		if status.Final() {
			legs = append(legs, singletable.LegOf(m.byStatus, func(in ByTime) ByStatus {
				return ByStatus{Status: status, From: in.From, To: in.To}
			}))
		}
	}
	legs = append(legs, same(m.pastByTime))
	m.allByTime = singletable.NewUnion("all-final-payments-by-time", orderOf, legs...)
}

func same[In any](p *singletable.Pattern[In, paymentItem]) singletable.Leg[In, paymentItem] {
	return singletable.LegOf(p, func(in In) In { return in })
}

// catalogue lists the questions for people and command lines.
func (m *model) catalogue() *singletable.Model {
	return singletable.NewModel("payments", []*singletable.Table{m.scheduler, m.history},
		m.byID, m.ofAccount, m.byStatus, m.pastOfAccount, m.pastByStatus, m.pastByTime,
		m.byTransaction, m.dayByName)
}
