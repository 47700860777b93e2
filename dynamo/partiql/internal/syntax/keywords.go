package syntax

import "strings"

// keywords are the words that can be names only in quotes: those of SQL-92 that PartiQL keeps, and
// its own.
var keywords = words(`
	absolute action add all allocate alter and any are as asc assertion at authorization avg
	begin between bit bit_length by cascade cascaded case cast catalog char character
	character_length char_length check close coalesce collate collation column commit connect
	connection constraint constraints continue convert corresponding count create cross current
	current_date current_time current_timestamp current_user cursor date deallocate dec decimal
	declare default deferrable deferred delete desc describe descriptor diagnostics disconnect
	distinct domain double drop else end escape except exception exec execute exists external
	extract false fetch first float for foreign found from full get global go goto grant group
	having identity immediate in indicator initially inner input insensitive insert int integer
	intersect interval into is isolation join key language last left level like local lower match
	max min module names national natural nchar next no not null nullif numeric octet_length of on
	only open option or order outer output overlaps pad partial position precision prepare
	preserve primary prior privileges procedure public read real references relative restrict
	revoke right rollback rows schema scroll section select session session_user set size smallint
	some space sql sqlcode sqlerror sqlstate substring sum system_user table temporary then time
	timestamp to transaction translate translation trim true union unique unknown update upper
	usage user using value values varchar varying view when whenever where with work write zone

	missing pivot unpivot limit offset tuple remove index returning modified new old
	integer2 int2 integer4 int4 integer8 int8 bigint
	bool boolean string symbol clob blob struct list sexp bag
`)

// operators are the keywords that join or change terms. No term begins with them.
var operators = words("and between except in intersect is like or union")

// functions are the keywords that may be the name of a function.
var functions = words(`
	avg bit_length character_length char_length count exists lower max min octet_length size
	substring sum upper
`)

// typeNames are the names that may follow IS, except those of two words.
var typeNames = words(`
	any bag bigint blob bool boolean char character clob date dec decimal float int int2 int4 int8
	integer integer2 integer4 integer8 list missing null numeric real sexp smallint string struct
	symbol time timestamp tuple varchar
`)

func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}
