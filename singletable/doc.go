// Package singletable is a kit for single-table designs on DynamoDB. A design defines once where
// each kind of item is stored and which queries are made. The kit builds keys, expressions,
// transactions and pages, keeps index keys up to date, and returns the cost of each operation
// before it is executed.
//
// It works with any [dynamo.DB]: the embedded engine in this module, or Amazon DynamoDB. It imports
// no other package of this module and is independent of any domain.
//
// # Words
//
// A [Table] has key attributes and indexes. An [Entity] is a kind of item in it, decoded to and
// from a plain Go struct. A template is the text of a key with parts that are fields. A [Pattern]
// is a named access pattern: inputs, a key condition, rows. A [Tx] is several writes, all or none.
// A [Unique] is a value that no two items may share. A [Model] lists all of them.
//
// # A model
//
// The struct has no key fields. Attributes are named by `dynamodbav` tags, or like the field:
//
//	type Account struct {
//		ID      string
//		UserID  string
//		Status  string
//		Balance singletable.Number
//		Opened  time.Time
//	}
//
//	table := singletable.NewTable("bank", singletable.Keys("PK", "SK"),
//		singletable.GSI("GSI1", "GSI1PK", "GSI1SK"))
//	accounts := singletable.NewEntity[Account](table, "Account",
//		singletable.Primary("ACCOUNT#<ID>", "METADATA"),
//		singletable.On("GSI1", "USER#<UserID>", "ACCOUNT#<Opened>#<ID>"),
//		singletable.Discriminator("Type", "Account"))
//
// An account with the ID a1 is then the item PK=ACCOUNT#a1, SK=METADATA, GSI1PK=USER#...,
// Type=Account and so on, with an attribute for each field. Table and index names are values: to
// make them configurable, build the model in a function with these names as parameters.
//
// # Fields
//
// Fields may be strings, integers, bool, []byte, time.Time, pointers, slices, maps with string
// keys, structs, any, and named types of those. A type with MarshalNumber() (string, error) and
// UnmarshalNumber(string) error is stored as a Number, one with MarshalText and UnmarshalText as a
// string. Floats are refused, because they cannot represent decimals: use [Number], or a decimal
// type.
//
// A time is stored as text of fixed width in UTC, 2026-01-02T10:30:00.123Z, truncated to
// milliseconds. A nil pointer, slice or map, a zero time and an empty set are not stored. The
// options of a tag, after the name, are those of the AWS SDK and some more:
//
//	omitempty   an empty value is not stored; for a key part it is missing
//	stringset   a slice of strings is a string set; numberset, binaryset likewise
//	unixtime    a time is a Number of epoch seconds, as expiry requires
//	seconds     a time is text without a fraction
//	day         a time is a calendar day, 2026-01-02
//	keyonly     the field is part of the primary key and not stored elsewhere
//	keytext     a string is set to a key attribute as it was found; "@sort" is the sort key
//	required    an item without it cannot be read; an empty text counts as none
//	present     required, but a text may be empty
//	together    an item has all fields with this option, or none of them
//	rest        a [Rest] keeps the attributes that other programs store in addition
//
// # Templates
//
// A part is <Field> or <Field:format>, where Field is the name of an attribute or of a Go field. A
// part whose field is empty is missing. This is an error in a primary key, and in an index unless
// the placement is [Sparse]; then the item is not in that index. No key ever has a missing part.
// These are the formats; "sorts" means that text order is value order.
//
//	text            any text; % and # are percent-encoded                   text, the default
//	lower, upper    the same in lower or upper case                         text
//	plain           text; a value with % or # is refused                    text
//	digits          the number as it is; does not sort                      numbers, the default
//	int(10)         ten digits with leading zeros; sorts                    integers
//	decimal(12.2)   twelve digits before and two after the point; sorts     numbers
//	millis          2026-01-02T10:30:00.123Z; sorts                         times, the default
//	seconds, micros, nanos, hour, day, month, year                          times; they sort
//	layout(...)     a layout of package time, of fixed width                times
//	reverse         counts down from the year 9999; sorts newest first      times
//	bool, hex       true or false; bytes as hexadecimal
//	shard(8)        0 to 7, by a hash of the field that never changes
//	shardSuffix(8)  #0 to #7; nothing for shardSuffix(1)
//
// Time formats also accept text fields with dates or RFC 3339 times. A value that contains the
// separator is escaped, so that two different values never have the same key, and keys can be
// parsed. A template with only one field stores the field's own value if the key attribute is that
// field or is a Number or binary ([NumberKeys]).
//
// The formats lower and upper only change the case of letters, one by one. They neither apply
// Unicode case folding nor normalise, so that "é" as one rune and as two are different values.
// Normalise a text before it becomes a unique value. The form in keys never changes, because stored
// lookup items would not be found.
//
// # Items of other programs
//
// A field of the primary key has the value in the key. A field whose attribute is absent is taken
// from an index key that contains it. Instants are read with any fraction or none, and without a
// zone; [ReadAs] defines other forms of keys.
//
// An item that cannot be decoded is an [*UnreadableError], which names the item, the attribute and
// the reason. It is never returned as a zero value and never omitted. A page lists such items next
// to its rows, and an iterator yields them as errors and continues. [Sound] adds checks of an
// entity.
//
// A value that was read from an index without some of its attributes is marked by a field of type
// [Part], and writing the whole value is refused. A pattern with such an index must [Hydrate], or
// its struct must have that field, or only the attributes of the index.
//
// # Reads and writes
//
// Verbs are methods of the entity. They take a [Store], which is a database with a clock, a key for
// cursors and a configuration of retries:
//
//	store := singletable.NewStore(db, singletable.Options{})
//	err := accounts.Create(ctx, store, Account{ID: "a1", ...}) // ErrExists if it exists
//	a, found, err := accounts.Get(ctx, store, Account{ID: "a1"})
//
// [Entity.Put] writes an item that may or may not exist, [Entity.Replace] one that must exist.
// [Entity.Delete] and [Entity.Take] delete. [Entity.GetMany], [Entity.PutAll] and
// [Entity.DeleteAll] work in batches, and a [Snapshot] reads items as of one moment.
//
// [Entity.Update] changes parts of an item through handles of fields, which are created once:
//
//	balance := singletable.FieldOf(accounts,
//		func(a *Account) *singletable.Number { return &a.Balance })
//	status := singletable.FieldOf(accounts, func(a *Account) *string { return &a.Status })
//	a, err := accounts.Update(ctx, store, Account{ID: "a1"}, balance.Subtract("5.50"),
//		singletable.If(status.Equals("active"), balance.AtLeast("5.50")))
//
// An update changes an existing item, unless [Entity.Upsert] is one of its steps. Index keys that
// depend on a changed field are changed or removed in the same request. If a key needs a field that
// the update does not know, the error is a [*PartialKeyError] that names it. There are two
// solutions: [Entity.WithKnown] passes the item as the caller knows it, with a condition that it is
// unchanged; [Entity.ReadFirst] reads it, and starts again if it is changed concurrently.
//
// # Transactions
//
// Every write has a form that adds it to a transaction:
//
//	tx := store.NewTx()
//	accounts.UpdateTx(tx, Account{ID: "a1"}, balance.Subtract("5"), balance.AtLeast("5"))
//	accounts.UpdateTx(tx, Account{ID: "a2"}, balance.Add("5"))
//	err := tx.Commit(ctx)
//
// The store accepts each item once. Actions on the same item are therefore merged into one with the
// effect of all in sequence: additions are summed, and a later condition is rewritten for the item
// before the earlier changes, so that two debits of 60 from 100 fail as they should. More than 100
// items or 4 MB are refused before anything is sent.
//
// If an action fails, the error is a [*WriteError]. Each [Failure] has the handles of its actions,
// and the item as it was found, which [Old] decodes. Test with errors.Is for ErrExists, ErrMissing,
// ErrChanged, ErrTaken, or ErrConditionFailed for any of them. Conflicts with other transactions
// are never reported with these: they are retried.
//
// # Patterns
//
// The inputs of a pattern are a struct whose fields have the names of template parts:
//
//	type OfUser struct {
//		UserID   string
//		From, To time.Time
//	}
//	ofUser := singletable.NewQuery[OfUser](accounts, "accounts-of-user",
//		singletable.Describe("The accounts of a user, newest first."),
//		singletable.UseIndex("GSI1"),
//		singletable.Between("Opened", "From", "To"), singletable.Descending())
//
//	for a, err := range ofUser.All(ctx, store, OfUser{UserID: "u1"}) { ... }
//	page, err := ofUser.Page(ctx, store, OfUser{UserID: "u1"}, 100, cursor)
//
// Inputs fix the partition key, and parts of the sort key from the left; the first open part may
// have a range or a prefix. Ranges are half open, [From, To), exactly to the last byte of the key,
// and never match keys outside the entity's own prefix. [Through] includes the end, for calendar
// days. An empty input opens its end of a range. A number is never empty, so use a pointer if it is
// optional.
//
// [NewLookup] is a pattern by primary key, [NewCollection] reads several entities of one partition
// in one request, and [NewScan] reads everything. [Hydrate] reads whole items for an index that
// holds only keys. [Pattern.First], [Pattern.Count] and [Pattern.Collect] return the first row, the
// number of rows and all rows together.
//
// A cursor ([Page].Next, Prev, Resume) is text that is valid in a URL. It is signed, belongs to one
// pattern and one set of inputs, and contains the key of the last returned row. No row is therefore
// repeated or lost, even among rows with equal sort keys and if rows are added or removed.
//
// # Shards and buckets
//
// One partition key supports 1,000 write units per second. STATUS#<Status> puts all completed items
// under one key; STATUS#<Status><ID:shardSuffix(4)> distributes them over four. A pattern without
// the ID as input reads all four in parallel and merges them in order. The number can grow: declare
// [Shards] with epochs, and old items are still found in their shards.
//
// A partition key may contain a time bucket: USER#<UserID>#<At:month>. A pattern with a range over
// At reads the months of the range one after another, newest first if it is [Descending], or
// several of them concurrently with [Parallel]. If a shard cannot be read, the whole page fails
// with a [*ShardError]; an incomplete list is never returned as a complete one.
//
// # Two tables as one
//
// If items move from one table to another by being copied and then deleted, a [Union] makes the
// same query in both: rows are merged in order under one cursor, each row is returned once, and no
// row is missing during a move.
//
// # Unique values
//
// [NewUnique] keeps a value unique by a lookup item whose key contains it. Each verb of the entity
// then writes both in one transaction: creation, change, change of case only, exchange between two
// items, deletion, expiry. ErrTaken means that another item has the value.
//
// # Cost
//
// [Pattern.Plan], [Tx.Plan], [Entity.PlanCreate] and similar functions return the exact requests,
// the index keys that they change, the number of calls, and the capacity units: minimum, typical,
// maximum. A [Meter] measures the calls of a context:
//
//	ctx, meter := singletable.WithMeter(ctx)
//	...
//	fmt.Println(meter.Calls(), meter.Read(), meter.Write())
//
// # Retries
//
// The kit retries, so the underlying client must be configured not to. Throttled and conflicting
// calls and the unprocessed rest of a batch are retried with a growing, random wait until the
// context's deadline or, without one, for [Retry].Budget. A store that does not answer is retried
// for [Retry].Outage, even past that. A failed condition is never retried. The error reports
// the reason:
//
//	ErrUnreachable   the store does not answer
//	ErrThrottled     it refuses calls because of their rate
//	ErrContended     other writers of the same items were faster; FailuresOf returns the items
//	context.DeadlineExceeded alone: it did not answer within the caller's time
//
// If the store fails during a write, the write is repeated if it is idempotent, if it is a
// transaction with a token (see [Tx.SetToken]), or if it puts a whole item, which the error of the
// repeat then contains. A deletion, whose repeat finds nothing, and an update that only sets
// attributes are also repeated. In all other cases the error matches [ErrUnknown].
//
// # Checking a model
//
// [Model.Check] returns all errors at once: unknown fields, keys of two entities that could be
// equal, ranges over parts that do not sort, keys that could be too long. It warns of later
// problems: a partition key with few values, a bare date as partition key, a status in the table's
// own sort key, an unused index. [Model.Accept] accepts a warning with a reason. Run Check in a
// test. [Table.Ensure] creates a table, and [Table.Verify] compares one with its definition.
//
// # Limits
//
// A transaction has at most [TxActionsMax] items and [TxSizeMax] bytes, a page at most
// [PageSizeMax] rows, a pattern reads at most [SourcesMax] partitions, and a ring has at most
// [ShardsMax] shards. Global indexes follow their table with a short delay. Index keys of several
// attributes are not supported; a template builds one attribute from several fields.
package singletable
