// Package statements keeps a person's bank statements: it takes in the files of banks, each row
// once, and shows where the money went.
//
// # Words
//
// [Books] hold the statements of everybody, and [Person] is the part of one user, who is known by
// the subject of a token and by nothing else: a Person cannot reach the data of other users.
// An [Account] is one at a bank, a [Tag] sorts transactions, an [Upload] is a bank's file, and a
// [Transaction] is one movement on an account on one calendar day. A sheet holds the totals of an
// account and month, see [Sheet].
//
// # Promises
//
// An import can be repeated, resumed and undone. Every row of a file becomes a transaction once,
// even if some of it was imported before, from any file; equal rows of one day are all kept.
// What a person deleted stays deleted, and what an undone import brought comes with the next one.
//
// What a person wrote is never overwritten by a file or a rule.
//
// Money out is negative. Amounts are the exact decimals that the bank wrote, and dates its calendar
// days; nothing moves them through a time zone.
//
// The sheets of an account are what its rows add up to, at every instant: a row and its month's
// sheet are written together. Rows of another program count once they are changed here or taken in,
// see [Person.CheckTotals].
//
// What a person has is theirs: [Person.Export] gives rows out in the forms of other programs,
// [Person.Archive] everything in one file, from which [Person.Restore] brings it back for anybody
// without loss, and [Person.Erase] removes all of it and returns what it was. Where no days are
// asked for they look into every month since 1970, as another program may have written rows that no
// sheet shows.
//
// A change that names the version which its caller has seen is made to nothing else.
//
// # The table
//
// All is in one table, by default PuteaMatai, without any index:
//
//	USER#<user>                           @PROFILE                 profile
//	USER#<user>                           ACCOUNT#<account>        account
//	USER#<user>                           TAG#<tag>                tag
//	USER#<user>#ACCOUNT#<account>         UPLOAD#<upload>          upload
//	USER#<user>#ACCOUNT#<account>#<month> TRANSACTION#<date>#<id>  transaction
//
// The rest is this package's own:
//
//	@statements#tag#<user>#<text>                META                a tag's text, once a user
//	@statements#entry#<user>#<account>#<month>   <id>                what is known of a row
//	@statements#total#<user>#<account>           <month>#<currency>  sheet
//	@statements#rule#<user>                      <rule>              rule
//	@statements#job#<user>                       <job>               work over many rows
//
// # Packages
//
// What needs no store is in packages below this one: book has the nouns with their texts and ids,
// match decides what each row of a file becomes, parsed stores the rows of a file that was parsed,
// and journal writes the forms of exports. This package has the verbs, in services: one for files,
// one for rules, one for the rows of months.
//
// # Identity
//
// The id of a transaction that a file brought is made of the bank's data: its own id of the row
// where that can be relied on, else the row's content and its place among equal ones of the day. An
// entry item under the month in which the bank booked it remembers the row for good, wherever the
// transaction is moved, and also after it was deleted; see [Entry]. The month is part of the id, so
// that an id alone leads to the item.
//
// # Who sets a field
//
// A field of a transaction is what the bank wrote until a rule or a person sets it. [Rule] looks at
// what the bank wrote alone, which never changes, and marks what it sets in Transaction.Ruled; a
// rule that is removed leaves it. What a person sets is marked in Transaction.Edited and is theirs
// until they give it back, see [TransactionChange]. Annotations mark nothing.
//
// # Changing a tag
//
// The ids of tags are the truth, and their texts in rows are copies. A tag that is renamed, merged
// into another or deleted is so at once; a [Job] then visits the months whose sheets show that they
// may have rows with it. Until it is done a row may show the earlier text, or the id of a tag that
// is gone, which the list of jobs explains. All else that is written in the meantime is written
// with the tags as they are, so that one visit to each month suffices. A job is written together
// with the rows that it changes: it can end anywhere, be repeated, and run several times at once.
//
// # The life of an upload
//
//	uploaded ── parsed ── previewed ── importing ── processed ── reverting ── reverted
//	    └──────────┴───────── failed ──────┤                                     │
//	               │                       └─────────── imported again ──────────┤
//	               └───────────────────────────── read again ────────────────────┘
//
// A file is parsed when it is uploaded. Its rows are stored next to it until they are imported, so
// that previews and the import do not parse it again; see package parsed. They do so if the stored
// rows are missing, or are not those of the file and its mapping any more.
//
// An upload that is reverted can be previewed and stays so. It is read again only once nothing of
// it is left.
package statements
