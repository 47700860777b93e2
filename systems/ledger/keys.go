package ledger

import (
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// The names of the table's indexes.
const (
	indexGSI1 = "GSI1"
	indexGSI2 = "GSI2"
)

// directoryShards is how many partitions hold the directory of accounts. One entry is written when
// an account is opened, so four partitions of 1,000 writes a second are enough, and reading the
// directory takes few calls.
const directoryShards = "4"

// Items as they are stored. Attribute names are part of the table's contract with other programs.
type (
	merchantItem struct {
		ID                  MerchantID `dynamodbav:"ID,required"`
		Name                string     `dynamodbav:"Name,required"`
		Category            string     `dynamodbav:"Category,omitempty"`
		SettlementAccountID AccountID  `dynamodbav:"SettlementAccountID,omitempty"`
		LocationID          LocationID `dynamodbav:"LocationID,omitempty"`
		RequestID           string     `dynamodbav:"RequestID,omitempty"`
		CreatedAt           time.Time  `dynamodbav:"CreatedAt"`
	}

	accountItem struct {
		ID             AccountID      `dynamodbav:"ID,required"`
		UserID         UserID         `dynamodbav:"UserID,omitempty"`
		AccountType    string         `dynamodbav:"AccountType,required"`
		Balance        money.Decimal  `dynamodbav:"Balance,required"`
		Currency       money.Currency `dynamodbav:"Currency,required"`
		Status         AccountStatus  `dynamodbav:"Status,required"`
		OverdraftLimit money.Decimal  `dynamodbav:"OverdraftLimit"`
		Unlimited      bool           `dynamodbav:"OverdraftUnlimited,omitempty"`
		Zone           string         `dynamodbav:"Zone,omitempty"`
		LocationID     LocationID     `dynamodbav:"LocationID,omitempty"`
		Version        uint64         `dynamodbav:"Version,together"`
		Revision       uint64         `dynamodbav:"Revision,together"`
		LastPostedAt   time.Time      `dynamodbav:"LastPostedAt"`
		CreatedAt      time.Time      `dynamodbav:"CreatedAt"`
	}

	transactionItem struct {
		ID             TransactionID     `dynamodbav:"ID,required"`
		IdempotencyKey string            `dynamodbav:"IdempotencyKey"`
		Type           TransactionType   `dynamodbav:"TransactionType,required"`
		Status         TransactionStatus `dynamodbav:"Status,required"`
		MerchantID     MerchantID        `dynamodbav:"MerchantID,omitempty"`
		Description    string            `dynamodbav:"Description,omitempty"`
		Amount         money.Decimal     `dynamodbav:"Amount,required"`
		Currency       money.Currency    `dynamodbav:"Currency"`
		Metadata       map[string]string `dynamodbav:"Metadata,omitempty"`
		ReversalOf     TransactionID     `dynamodbav:"ReversalOf,omitempty"`
		ReversedBy     TransactionID     `dynamodbav:"ReversedBy,omitempty"`
		RequestHash    string            `dynamodbav:"RequestHash"`
		CreatedAt      time.Time         `dynamodbav:"CreatedAt"`
	}

	legItem struct {
		ID             LegID          `dynamodbav:"ID,required"`
		TransactionID  TransactionID  `dynamodbav:"TransactionID,required"`
		AccountID      AccountID      `dynamodbav:"AccountID,required"`
		Type           LegType        `dynamodbav:"LegType,required"`
		Amount         money.Decimal  `dynamodbav:"Amount,required"`
		Currency       money.Currency `dynamodbav:"Currency"`
		BalanceAfter   money.Decimal  `dynamodbav:"BalanceAfter,together"`
		AccountVersion uint64         `dynamodbav:"AccountVersion,together"`
		CreatedAt      time.Time      `dynamodbav:"CreatedAt"`
	}

	// directoryItem records that there is an account. It is written with the account and never
	// changed, so that all accounts can be found without reading the whole table, and so that a
	// repeat of the request that opened the account is recognised after any change of the account.
	directoryItem struct {
		AccountID   AccountID `dynamodbav:"AccountID,required"`
		RequestHash string    `dynamodbav:"RequestHash,omitempty"`
		RequestID   string    `dynamodbav:"RequestID,omitempty"`
		CreatedAt   time.Time `dynamodbav:"CreatedAt"`
	}

	// openedItems is an account with its entry in the directory.
	openedItems struct {
		account accountItem
		entry   directoryItem
	}

	// requestItem records which account or merchant an idempotency key has made. It is written with
	// it and never changed. Its ID is derived from the key.
	requestItem struct {
		ID         string     `dynamodbav:"ID,required"`
		AccountID  AccountID  `dynamodbav:"AccountID,omitempty"`
		MerchantID MerchantID `dynamodbav:"MerchantID,omitempty"`
		CreatedAt  time.Time  `dynamodbav:"CreatedAt"`
	}

	// shardsItem holds over how many shards the transactions of one status are spread, and since
	// when.
	shardsItem struct {
		Epochs  []epoch `dynamodbav:"Epochs,required"`
		Version uint64  `dynamodbav:"Version,required"`
	}

	epoch struct {
		Count int       `dynamodbav:"Count,required"`
		From  time.Time `dynamodbav:"From"`
	}

	// entryItems is a transaction with its legs. The header is nil if there is none.
	entryItems struct {
		header *transactionItem
		legs   []legItem
	}
)

// Inputs of the patterns.
type (
	// ByID names one item.
	ByID struct{ ID string }
	// ByUser names a user.
	ByUser struct{ UserID UserID }
	// ByKey names an idempotency key.
	ByKey struct{ IdempotencyKey string }
	// ByStatus names a status and a range of time, [From, To). A nil end is open.
	ByStatus struct {
		Status   TransactionStatus
		From, To *time.Time
	}
	// ByAccount names an account and a range of time, [From, To). A nil end is open.
	ByAccount struct {
		AccountID AccountID
		From, To  *time.Time
	}
	// ByStatement is ByAccount with what is fixed for all pages: both balances, and the version of
	// the newest row.
	ByStatement struct {
		AccountID AccountID
		From, To  *time.Time
		Balances  string
	}
	// Everything has no inputs.
	Everything struct{}
)

// model is the table's design under one list of numbers of shards: which item is where, and which
// questions it answers.
type model struct {
	shards       shardsItem
	table        *singletable.Table
	merchants    *singletable.Entity[merchantItem]
	accounts     *singletable.Entity[accountItem]
	transactions *singletable.Entity[transactionItem]
	legs         *singletable.Entity[legItem]
	directory    *singletable.Entity[directoryItem]
	requests     *singletable.Entity[requestItem]
	control      *singletable.Entity[shardsItem]

	controlled   singletable.Field[shardsItem, uint64]
	balance      singletable.Field[accountItem, money.Decimal]
	status       singletable.Field[accountItem, AccountStatus]
	limit        singletable.Field[accountItem, money.Decimal]
	unlimited    singletable.Field[accountItem, bool]
	version      singletable.Field[accountItem, uint64]
	revision     singletable.Field[accountItem, uint64]
	lastPostedAt singletable.Field[accountItem, time.Time]
	state        singletable.Field[transactionItem, TransactionStatus]
	reversedBy   singletable.Field[transactionItem, TransactionID]

	// The times of creation, which only RepairDates changes.
	accountCreated  singletable.Field[accountItem, time.Time]
	entryCreated    singletable.Field[directoryItem, time.Time]
	headerCreated   singletable.Field[transactionItem, time.Time]
	legCreated      singletable.Field[legItem, time.Time]
	merchantCreated singletable.Field[merchantItem, time.Time]
	requestCreated  singletable.Field[requestItem, time.Time]

	merchantByID    *singletable.Pattern[ByID, merchantItem]
	accountByID     *singletable.Pattern[ByID, accountItem]
	accountsOfUser  *singletable.Pattern[ByUser, accountItem]
	transactionByID *singletable.Pattern[ByID, transactionItem]
	entryByID       *singletable.Pattern[ByID, entryItems]
	byStatus        *singletable.Pattern[ByStatus, transactionItem]
	byStatusNewest  *singletable.Pattern[ByStatus, transactionItem]
	byKey           *singletable.Pattern[ByKey, transactionItem]
	legsOfAccount   *singletable.Pattern[ByAccount, legItem]
	statement       *singletable.Pattern[ByStatement, legItem]
	legsOldest      *singletable.Pattern[ByAccount, legItem]
	allAccounts     *singletable.Pattern[Everything, directoryItem]
}

// catalogue lists the questions for people and command lines, in the order of the package's
// description. The pattern behind statements is not among them: it is legs-of-account with inputs
// that only its cursors need.
func (m *model) catalogue() *singletable.Model {
	return singletable.NewModel("ledger", []*singletable.Table{m.table},
		m.merchantByID, m.accountByID, m.accountsOfUser, m.transactionByID, m.entryByID,
		m.byStatus, m.byStatusNewest, m.byKey, m.legsOfAccount, m.legsOldest, m.allAccounts)
}

// modelOf returns the model of a ledger. The field is any so that the compiler sees no type of the
// kit behind a Ledger: every package that names one would compile all of them again.
func modelOf(l *Ledger) *model { return l.model.Load().(*model) }

// newModel builds the design of the seed. The names, the formats of the keys and the attributes are
// a contract with other programs that use the table. What the ledger adds for itself is in
// partitions whose keys begin with "@ledger#".
func newModel(o Options, shards shardsItem) *model {
	t := singletable.NewTable(o.TableName, singletable.Keys("PK", "SK"),
		singletable.GSI(indexGSI1, "GSI1PK", "GSI1SK"),
		singletable.GSI(indexGSI2, "GSI2PK", "GSI2SK"))
	m := &model{table: t, shards: shards}
	m.defineEntities(o)
	m.defineShards()
	m.defineFields()
	m.definePatterns()
	return m
}

func (m *model) defineEntities(o Options) {
	const kind = "Type"
	// The tenant by default is left out, so that keys are exactly the seed's.
	tenant := ""
	if o.Tenant != TenantDefault {
		tenant = o.Tenant + "#"
	}
	m.merchants = singletable.NewEntity[merchantItem](m.table, merchantEntity,
		singletable.Discriminator(kind, merchantEntity),
		singletable.Primary("MERCHANT#<ID>", "METADATA"))
	m.accounts = singletable.NewEntity[accountItem](m.table, accountEntity,
		singletable.Discriminator(kind, accountEntity),
		singletable.Enum("Status", string(AccountActive), string(AccountFrozen),
			string(AccountClosed)),
		singletable.Sound(soundAccount),
		singletable.Primary("ACCOUNT#<ID>", "METADATA"),
		// The ledger's own accounts have no user.
		singletable.On(indexGSI1, "USER#<UserID>", "ACCOUNT#<ID>", singletable.Sparse()))
	m.transactions = singletable.NewEntity[transactionItem](m.table, headerEntity,
		singletable.Discriminator(kind, headerEntity),
		singletable.Enum("Status", string(Pending), string(Completed), string(Failed),
			string(Reversed)),
		m.statusShards(),
		singletable.Sound(soundTransaction),
		singletable.Primary("TXN#<ID>", "METADATA"),
		singletable.On(indexGSI1, "STATUS#<Status>"+m.statusSuffix(), "CREATED#<CreatedAt>"),
		singletable.On(indexGSI2, "IDEMPOTENCY#"+tenant+"<IdempotencyKey>", "TXN"))
	m.legs = singletable.NewEntity[legItem](m.table, legEntity,
		singletable.Discriminator(kind, legEntity),
		singletable.Enum("LegType", string(Debit), string(Credit)),
		singletable.Sound(soundLeg),
		singletable.Primary("TXN#<TransactionID>", "LEG#<ID>"),
		singletable.On(indexGSI1, "ACCOUNT#<AccountID>", "LEG#<CreatedAt>#<ID>"))
	m.directory = singletable.NewEntity[directoryItem](m.table, directoryEntity,
		singletable.Discriminator(kind, directoryEntity),
		singletable.Primary("@ledger#accounts#<AccountID:shard("+directoryShards+")>",
			"ACCOUNT#<AccountID>"))
	m.requests = singletable.NewEntity[requestItem](m.table, requestEntity,
		singletable.Discriminator(kind, requestEntity),
		singletable.Sound(soundRequest),
		singletable.Primary("@ledger#request#<ID>", "METADATA"),
		singletable.About("Which account or merchant an idempotency key has made"))
}

func (m *model) defineFields() {
	a, t := m.accounts, m.transactions
	m.balance = singletable.FieldOf(a, func(i *accountItem) *money.Decimal { return &i.Balance })
	m.status = singletable.FieldOf(a, func(i *accountItem) *AccountStatus { return &i.Status })
	m.limit = singletable.FieldOf(a,
		func(i *accountItem) *money.Decimal { return &i.OverdraftLimit })
	m.unlimited = singletable.FieldOf(a, func(i *accountItem) *bool { return &i.Unlimited })
	m.version = singletable.FieldOf(a, func(i *accountItem) *uint64 { return &i.Version })
	m.revision = singletable.FieldOf(a, func(i *accountItem) *uint64 { return &i.Revision })
	m.lastPostedAt = singletable.FieldOf(a,
		func(i *accountItem) *time.Time { return &i.LastPostedAt })
	m.state = singletable.FieldOf(t,
		func(i *transactionItem) *TransactionStatus { return &i.Status })
	m.controlled = singletable.FieldOf(m.control, func(i *shardsItem) *uint64 { return &i.Version })
	m.reversedBy = singletable.FieldOf(t,
		func(i *transactionItem) *TransactionID { return &i.ReversedBy })
	m.defineTimes()
}

func (m *model) defineTimes() {
	m.accountCreated = singletable.FieldOf(m.accounts,
		func(i *accountItem) *time.Time { return &i.CreatedAt })
	m.entryCreated = singletable.FieldOf(m.directory,
		func(i *directoryItem) *time.Time { return &i.CreatedAt })
	m.headerCreated = singletable.FieldOf(m.transactions,
		func(i *transactionItem) *time.Time { return &i.CreatedAt })
	m.legCreated = singletable.FieldOf(m.legs,
		func(i *legItem) *time.Time { return &i.CreatedAt })
	m.merchantCreated = singletable.FieldOf(m.merchants,
		func(i *merchantItem) *time.Time { return &i.CreatedAt })
	m.requestCreated = singletable.FieldOf(m.requests,
		func(i *requestItem) *time.Time { return &i.CreatedAt })
}

func (m *model) definePatterns() {
	describe, index := singletable.Describe, singletable.UseIndex
	m.merchantByID = singletable.NewLookup[ByID](m.merchants, "merchant-by-id",
		describe("A merchant by its id"))
	m.accountByID = singletable.NewLookup[ByID](m.accounts, "account-by-id",
		describe("An account by its id, as of now"), singletable.Consistent())
	m.accountsOfUser = singletable.NewQuery[ByUser](m.accounts, "accounts-of-user",
		describe("All accounts of a user, by account id"), index(indexGSI1))
	m.transactionByID = singletable.NewLookup[ByID](m.transactions, "transaction-by-id",
		describe("The header of a transaction by its id, as of now"), singletable.Consistent())
	m.entryByID = singletable.NewCollection[ByID]("transaction-with-legs",
		[]singletable.Member[entryItems]{
			singletable.Into(m.transactions,
				func(e *entryItems, i transactionItem) { e.header = &i }),
			singletable.Into(m.legs,
				func(e *entryItems, i legItem) { e.legs = append(e.legs, i) }),
		},
		describe("A transaction and all its legs, in one query of its item collection"),
		singletable.Consistent())
	m.byStatus = singletable.NewQuery[ByStatus](m.transactions, "transactions-by-status",
		describe("The transactions of a status created within a range of time, oldest first"),
		index(indexGSI1), singletable.Between("CreatedAt", "From", "To"))
	m.byStatusNewest = singletable.NewQuery[ByStatus](m.transactions,
		"transactions-by-status-newest",
		describe("The transactions of a status created within a range of time, newest first"),
		index(indexGSI1), singletable.Between("CreatedAt", "From", "To"),
		singletable.Descending())
	m.byKey = singletable.NewQuery[ByKey](m.transactions, "transaction-by-idempotency-key",
		describe("The transaction that was posted with an idempotency key"), index(indexGSI2),
		singletable.Rows(1))
	m.legsOfAccount = singletable.NewQuery[ByAccount](m.legs, "legs-of-account",
		describe("The legs of an account within a range of time, newest first"),
		index(indexGSI1), singletable.Between("CreatedAt", "From", "To"),
		singletable.Descending())
	m.statement = singletable.NewQuery[ByStatement](m.legs, "account-statement",
		describe("The legs of an account over calendar days, newest first, with balances"),
		index(indexGSI1), singletable.Between("CreatedAt", "From", "To"),
		singletable.Descending())
	m.legsOldest = singletable.NewQuery[ByAccount](m.legs, "legs-of-account-oldest",
		describe("The legs of an account within a range of time, oldest first"),
		index(indexGSI1), singletable.Between("CreatedAt", "From", "To"))
	m.allAccounts = singletable.NewQuery[Everything](m.directory, "accounts",
		describe("The ids of all accounts, from the ledger's directory"))
}

// The names of the entities, which are also the values of the attribute Type.
const (
	merchantEntity  = "Merchant"
	accountEntity   = "Account"
	headerEntity    = "Transaction"
	legEntity       = "TransactionLeg"
	directoryEntity = "AccountEntry"
	requestEntity   = "Request"
)

// createdAt is the attribute with the time of creation.
const createdAt = "CreatedAt"

// What the primary keys of the table's items begin with.
const (
	transactionKey = "TXN#"
	accountKey     = "ACCOUNT#"
	merchantKey    = "MERCHANT#"
	directoryKey   = "@ledger#accounts#"
	requestKey     = "@ledger#request#"
	ownKey         = "@ledger#"
	legKey         = "LEG#"
)

// isTransactionKey reports whether a partition key is that of a transaction and its legs.
func isTransactionKey(partition string) bool {
	return strings.HasPrefix(partition, transactionKey)
}

// isOurs reports whether a partition key is one of the ledger's.
func isOurs(partition string) bool {
	for _, prefix := range [...]string{transactionKey, accountKey, merchantKey, ownKey} {
		if strings.HasPrefix(partition, prefix) {
			return true
		}
	}
	return false
}

// named returns a divergence with the names of a stored item, which are in its key.
func named(a *singletable.AuditItem) Divergence {
	d := Divergence{Entry: a.Key()}
	partition, sort := a.Partition(), a.Sort()
	if id, ok := strings.CutPrefix(partition, transactionKey); ok {
		d.TransactionID = TransactionID(id)
		if id, ok := strings.CutPrefix(sort, legKey); ok {
			d.LegID, d.AccountID = LegID(id), AccountID(a.Text("AccountID"))
		}
	}
	if id, ok := strings.CutPrefix(partition, accountKey); ok {
		d.AccountID = AccountID(id)
	}
	if strings.HasPrefix(partition, directoryKey) {
		d.AccountID = AccountID(strings.TrimPrefix(sort, accountKey))
	}
	if strings.HasPrefix(partition, requestKey) {
		d.AccountID = AccountID(a.Text("AccountID"))
	}
	return d
}

// legPartition returns the partition key of an account's legs in GSI1.
func (m *model) legPartition(id AccountID) (string, error) {
	item, err := m.legs.Item(legItem{ID: "-", TransactionID: "-", AccountID: id, Type: Debit,
		Currency: "XXX", CreatedAt: time.Unix(0, 0)})
	if err != nil {
		return "", err
	}
	return item["GSI1PK"].S(), nil
}

// otherTenant reports whether a key of GSI2 is that of the same idempotency key under another
// tenant, because tenants may share a table. own is the key that this ledger would write. The
// transaction's id is derived from its tenant.
func (l *Ledger) otherTenant(key, own string, h *transactionItem) bool {
	const prefix = "IDEMPOTENCY#"
	if l.opts.Tenant != TenantDefault {
		own = strings.TrimPrefix(own, prefix+l.opts.Tenant+"#")
	}
	tenant, ok := strings.CutSuffix(key, strings.TrimPrefix(own, prefix))
	tenant, prefixed := strings.CutPrefix(tenant, prefix)
	switch {
	case !ok || !prefixed:
		return false
	case tenant == "":
		tenant = TenantDefault
	default:
		if tenant, ok = strings.CutSuffix(tenant, "#"); !ok || !plainID(tenant) {
			return false
		}
	}
	return h.ID == OwnerCaller.transactionID(tenant, h.IdempotencyKey) ||
		owned(h.ID, tenant, h.IdempotencyKey) ||
		h.ID == TransactionID(derive(reversalSpace, tenant, string(h.ReversalOf)))
}

// statusRing names the shards of the transactions of one status.
const statusRing = "status"

// bareShard is the shard whose key has no number, as in the seed. Other programs write it for any
// number of shards, so lists always ask it.
const bareShard = -1

// statusPartition returns the key of a status in one shard of GSI1.
func statusPartition(status TransactionStatus, shard int) string {
	key := "STATUS#" + string(status)
	if shard != bareShard {
		key += "#" + strconv.Itoa(shard)
	}
	return key
}

// isShard reports whether a key of GSI1 is that of a status in one of the shards that lists ask.
func (m *model) isShard(key string, status TransactionStatus) bool {
	if key == statusPartition(status, bareShard) {
		return true
	}
	for _, e := range m.shards.Epochs {
		for shard := range e.Count {
			if e.Count > 1 && key == statusPartition(status, shard) {
				return true
			}
		}
	}
	return false
}

// defineShards defines the item that stores the numbers of shards.
func (m *model) defineShards() {
	m.control = singletable.NewEntity[shardsItem](m.table, "StatusShards",
		singletable.Discriminator("Type", "StatusShards"),
		singletable.Primary("@ledger#control#shards", "EPOCHS"), singletable.Sound(soundShards),
		singletable.About("Over how many shards the transactions of one status are spread, and "+
			"since when"))
}

// statusShards declares the shards of the transactions of one status.
func (m *model) statusShards() singletable.EntityOption {
	epochs := make([]singletable.Epoch, len(m.shards.Epochs))
	for i, e := range m.shards.Epochs {
		epochs[i] = singletable.Epoch{Count: e.Count, From: e.From}
	}
	return singletable.ShardsEver(statusRing, "CreatedAt", epochs...)
}

// statusSuffix returns what follows the status in its partition key: nothing, as in the seed,
// unless there are shards.
func (m *model) statusSuffix() string {
	if len(m.shards.Epochs) == 1 && m.shards.Epochs[0].Count == 1 {
		return ""
	}
	return "<ID:shardSuffix(" + statusRing + ")>"
}

// digested are the attributes that are the same in the table and in an index at all times, because
// they never change.
func digested() []string {
	return []string{"ID", "TransactionID", "AccountID", "LegType", "Amount", "BalanceAfter",
		"AccountVersion", "CreatedAt", "IdempotencyKey", "TransactionType"}
}
