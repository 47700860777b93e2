// Package singletable is a kit for single-table designs on DynamoDB. You say once where each kind
// of item stands and which questions are asked; the kit makes keys, expressions, transactions and
// pages, keeps index keys in step, and tells what each operation costs before it is run.
//
// It works on any [dynamo.DB]: the embedded engine in this module, or Amazon DynamoDB. It imports
// nothing else, and knows no domain.
//
// # Words
//
// A [Table] has key attributes and indexes. An [Entity] is a kind of item in it, decoded to and
// from a plain Go struct. A template is the text of a key with parts that are fields. A [Pattern]
// is a named access pattern: inputs, a key condition, rows. A [Tx] is several writes, all or
// none. A [Unique] is a value that no two items may share. A [Model] lists all of them.
//
// # A model
//
// The struct has no key fields. Attributes are named by `dynamodbav` tags, or as the field is:
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
// An account with the ID a1 is then the item PK=ACCOUNT#a1, SK=METADATA, GSI1PK=USER#..., and so
// on, Type=Account, with an attribute for each field. Table and index names are values: build the
// model in a function that takes them, if they are to be configurable.
//
// # Fields
//
// Fields may be strings, integers, bool, []byte, time.Time, pointers, slices, maps with string
// keys, structs, any, and named types of those. A type with MarshalNumber() (string, error) and
// UnmarshalNumber(string) error is stored as a Number, one with MarshalText and UnmarshalText as a
// string. Floats are refused, as they cannot hold decimals: use [Number], or a decimal type.
//
// A time is stored as text of fixed width in UTC, 2026-01-02T10:30:00.123Z; what is finer than a
// millisecond is cut off. A nil pointer, slice or map, a zero time and an empty set are not stored
// at all. The options of a tag, after the name, are those of the AWS SDK and some more:
//
//	omitempty   an empty value is not stored; for a key part it counts as missing
//	stringset   a slice of strings is a string set; numberset, binaryset likewise
//	unixtime    a time is a Number of epoch seconds, as expiry needs it
//	seconds     a time is text without a fraction
//	day         a time is a calendar day, 2026-01-02
//	keyonly     the field is part of the primary key and stored nowhere else
//	keytext     a string is set to a key attribute as it was found; "@sort" is the sort key
//	required    an item without it cannot be read; an empty text counts as none
//	present     required, but a text may be empty
//	together    an item has all fields with this option, or none of them
//	rest        a [Rest] keeps what other programs store in addition
//
// # Templates
//
// A part is <Field> or <Field:format>, where Field is an attribute's name or the Go field's. A
// part whose field is empty is missing: an error in a primary key and in an index, unless the
// placement is [Sparse]; then the item is not in that index. No key is ever made of a missing
// part. These are the formats; "sorts" means that text order is value order.
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
//	shardSuffix(8)  #0 to #7; nothing at all for shardSuffix(1)
//
// Time formats take text fields too, if they hold dates or RFC 3339 times. Whatever separator you
// use, a value that holds it is escaped, so that two different values never make one key, and
// keys can be taken apart again. A template that is one field and nothing else stores the field's
// own value where the key attribute is that field or is a Number or binary ([NumberKeys]).
//
// The formats lower and upper change the case of letters, one by one, and nothing else: they
// neither fold case as Unicode does nor normalise, so that "é" as one rune and as two are two
// values. Bring text into one form before it becomes a unique value. The form in keys is never
// changed, because stored lookup items would not be found any more.
//
// # Items of other programs
//
// A field of the primary key is what the key says. A field whose attribute is absent is taken from
// an index key that holds it. Instants are read with any fraction, or none, and without a zone;
// [ReadAs] names other forms of keys.
//
// An item that cannot be understood is an [*UnreadableError], which names the item, the attribute
// and the reason: never a zero value, and never a gap. A page lists such items next to its rows,
// and an iterator yields them as errors and goes on. [Sound] adds checks of the entity's own.
//
// A value that was read from an index that lacks some attributes is marked by a field of type
// [Part], and a write of the whole value is refused. A pattern over such an index must [Hydrate],
// or its struct must have that field, or hold no more than the index does.
//
// # Reads and writes
//
// Verbs are methods of the entity. They take a [Store], which is a database with a clock, a key
// for cursors and a policy for retries:
//
//	store := singletable.NewStore(db, singletable.Options{})
//	err := accounts.Create(ctx, store, Account{ID: "a1", ...}) // ErrExists if there is one
//	a, found, err := accounts.Get(ctx, store, Account{ID: "a1"})
//
// [Entity.Put] writes without looking, [Entity.Replace] over an item that must exist,
// [Entity.Delete] and [Entity.Take] remove, [Entity.GetMany], [Entity.PutAll] and
// [Entity.DeleteAll] work in batches, and a [Snapshot] reads items as of one moment.
//
// [Entity.Update] changes parts of an item through handles of fields, which are made once:
//
//	balance := singletable.FieldOf(accounts,
//		func(a *Account) *singletable.Number { return &a.Balance })
//	status := singletable.FieldOf(accounts, func(a *Account) *string { return &a.Status })
//	a, err := accounts.Update(ctx, store, Account{ID: "a1"}, balance.Subtract("5.50"),
//		singletable.If(status.Equals("active"), balance.AtLeast("5.50")))
//
// An update changes an item that exists, unless [Entity.Upsert] is among its steps. Index keys
// that depend on a changed field are changed or removed in the same request. When a key needs a
// field that the update does not know, it fails with a [*PartialKeyError] that names it. There
// are two cures: [Entity.WithKnown] gives the item as you know it, guarded by a condition that it
// is still so; [Entity.ReadFirst] reads it, and starts again if it changes meanwhile.
//
// # Transactions
//
// Every write has a form that joins a transaction:
//
//	tx := store.NewTx()
//	accounts.UpdateTx(tx, Account{ID: "a1"}, balance.Subtract("5"), balance.AtLeast("5"))
//	accounts.UpdateTx(tx, Account{ID: "a2"}, balance.Add("5"))
//	err := tx.Commit(ctx)
//
// The store takes each item once. Actions on one item are therefore merged into the one that has
// the effect of all in a row: additions add up, and a later condition is rewritten to speak of the
// item before the earlier changes, so that two debits of 60 from 100 fail as they should. More than
// 100 items or 4 MB are refused before anything is sent.
//
// When an action fails, the error is a [*WriteError]. Each [Failure] names the actions, by the
// handles that were returned, and carries the item as it was found, which [Old] decodes. Ask
// errors.Is with ErrExists, ErrMissing, ErrChanged, ErrTaken, or ErrConditionFailed for any of
// them. Conflicts with other transactions are never mixed with these: they are retried.
//
// # Patterns
//
// A pattern's inputs are a struct whose fields have the names of the template parts they stand
// for:
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
// Inputs fix the partition key, and parts of the sort key from the left; the first part left open
// may have a range or a prefix. Ranges are half open, [From, To), as far as the key is concerned
// to the last byte, and never leave the entity's own prefix; [Through] includes the end, for
// calendar days. An input left empty opens its end of a range; a number is never empty, so make
// it a pointer where it may be left out.
//
// [NewLookup] is a pattern by primary key, [NewCollection] reads several entities that share a
// partition in one request, [NewScan] reads everything. [Hydrate] fetches whole items for an index
// that holds keys only. [Pattern.First], [Pattern.Count] and [Pattern.Collect] do what they say.
//
// A cursor ([Page].Next, Prev, Resume) is text that fits into a URL. It is signed, belongs to one
// pattern and one set of inputs, and holds the key of the last row returned, so that no row is
// repeated or lost, also among rows with equal sort keys and when rows come and go.
//
// # Shards and buckets
//
// One partition key takes 1,000 write units a second. STATUS#<Status> puts all completed items
// under one key; STATUS#<Status><ID:shardSuffix(4)> spreads them over four. A pattern that is not
// given the ID reads all four side by side and merges them in order. The number can grow: declare
// [Shards] with epochs, and old items are still found where they are.
//
// A partition key may hold a time bucket: USER#<UserID>#<At:month>. A pattern with a range over At
// reads the months of the range one after the other, newest first if it is [Descending], or several
// at a time with [Abreast]. When a shard cannot be read the whole page fails with a [*ShardError];
// a short list is never passed off as a whole one.
//
// # Two tables as one
//
// Where items move from one table to another, by being copied and then deleted, a [Union] asks both
// the same question: rows are merged in order, each once, under one cursor, and none is hidden
// while it moves.
//
// # Unique values
//
// [NewUnique] keeps a value unique by a lookup item whose key is made of it. From then on each
// verb of the entity writes both in one transaction: creation, change, change of case alone,
// exchange between two items, deletion, expiry. ErrTaken says that somebody else has the value.
//
// # Cost
//
// [Pattern.Plan], [Tx.Plan], [Entity.PlanCreate] and the others return the exact requests, the
// index keys they touch, the number of calls, and capacity units: least, typical, most. A [Meter]
// measures what a context's calls took:
//
//	ctx, meter := singletable.WithMeter(ctx)
//	...
//	fmt.Println(meter.Calls(), meter.Read(), meter.Write())
//
// # Retries
//
// The kit owns retries; configure the client below to make none. Throttles, conflicts and what a
// batch left unprocessed are tried again with a growing, random wait until the context's deadline
// or, without one, for [Retry].Budget. A store that does not answer is tried for [Retry].Outage,
// whatever the deadline. A failed condition is never tried again. The error says what it was:
//
//	ErrUnreachable   the store does not answer
//	ErrThrottled     it refuses calls for their rate
//	ErrContended     other writers of the same items were faster; FailuresOf names the items
//	context.DeadlineExceeded alone: it did not answer within the caller's time
//
// When the store fails in the middle of a write, the write is repeated if doing it twice is doing
// it once, if a transaction has a token (see [Tx.SetToken]), or if it puts a whole item, which the
// refusal of the repeat then shows. So is a deletion, whose repeat finds nothing, and an update
// that only sets. Otherwise the error matches [ErrUnknown].
//
// # Checking a model
//
// [Model.Check] reports all that is wrong at once: unknown fields, keys of two entities that could
// be the same, ranges over parts that do not sort, keys that could be too long. It warns of what
// will hurt later: a partition key with few values, a bare date as partition key, a status in the
// table's own sort key, an index that nothing uses. [Model.Accept] accepts a warning with a reason.
// Run it in a test. [Table.Ensure] creates a table, [Table.Verify] compares one with its
// definition.
//
// # Limits
//
// A transaction has at most [TxActionsMax] items and [TxSizeMax] bytes, a page at most
// [PageSizeMax] rows, a pattern reads at most [SourcesMax] partitions, and a ring has at most
// [ShardsMax] shards. Global indexes follow their table a little later. Index keys of several
// attributes are not supported: a template makes one of them.
package singletable
