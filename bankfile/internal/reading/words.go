package reading

import (
	"cmp"
	"slices"
	"strings"
)

// roleOrder is the order in which the roles of words choose their columns.
var roleOrder = []Role{
	Currency, ID, Counterparty, Account, Foreign, ForeignCurrency, Payer, Name, Status, Reference,
	Category,
}

// eitherSide are names that banks give to accounts of either side.
var eitherSide = []string{
	"account number", "account no", "iban", "konto", "account", "kontonummer", "kontonr",
	"iban bic",
	"rekeningnummer", "compte", "cuenta", "conto", "numer rachunku", "tilinumero",
}

// nameWords are words within the names of columns of the other side.
var nameWords = []string{
	"name", "nom", "nombre", "nome", "navn", "namn", "nimi", "naam", "payee", "merchant", "vendor",
	"shop", "store", "supplier", "partner", "counterparty", "empfanger", "beguenstigter", "partei",
	"begunstigter", "handelaar", "beneficiary", "beneficiaire", "beneficiario", "kontrahent",
	"odbiorca", "saaja", "mottaker", "mottagare", "modtager", "recipient", "zahlungsempfanger",
	"contrepartie", "contraparte", "tegenpartij", "commercant", "marchand", "comercio",
	"esercente", "kauppa", "butik", "seller", "retailer", "company", "nume", "partener",
	"prejemnik", "primatelj", "prijemce", "prijemca", "platitel", "placnik", "gavejas", "sanemejs",
	"saaja", "maksja", "nimi", "alici", "gonderen", "vastaanottaja", "取引先", "店名", "店舗", "交易对方",
	"商户", "対方", "对方", "거래처", "가맹점", "отримувач", "получатель",
}

// ownWords are words within the names of columns about the user or the account.
var ownWords = []string{
	"account", "konto", "compte", "cuenta", "conto", "rekening", "holder", "kaarthouder",
	"karteninhaber", "inhaber", "titulaire", "titular", "cardholder", "card", "karte", "user",
	"eigen", "own", "kontoinhaber", "member", "bank",
}

// wordRoles gives the other columns their roles.
func (t *Table) wordRoles(roles []Role, m *Money) {
	for _, role := range roleOrder {
		if slices.Contains(roles, role) || role == Payer && !t.hasPayee(roles) {
			continue
		}
		best, bestRank := -1, 0
		for i := range roles {
			if roles[i] != "" || !t.fits(role, i) {
				continue
			}
			if r := Rank(role, t.name(i)); r >= 0 && (best < 0 || r < bestRank) {
				best, bestRank = i, r
			}
		}
		if best >= 0 {
			roles[best] = role
		}
	}
	t.statusByCells(roles)
	t.currencyByCells(roles)
	t.accountsByCells(roles)
	if !slices.Contains(roles, Name) {
		if i := t.nameByWord(roles); i >= 0 {
			roles[i] = Name
		}
	}
	t.notOwnName(roles)
	t.payerByCells(roles, m)
}

// payerByCells finds the column of payers in addition to that of payees: the holder of the account
// is the payer in all rows of money out and the payee in those of money in.
func (t *Table) payerByCells(roles []Role, m *Money) {
	name := slices.Index(roles, Name)
	if _, fixed := t.Fixed[name]; name < 0 || fixed || slices.Contains(roles, Payer) {
		return
	}
	for i, role := range roles {
		if role != "" && role != Memo || !t.wordy(i) || !t.fits(Name, i) {
			continue
		}
		switch {
		case t.isHolder(m, i, name):
			roles[i] = Payer
			return
		case t.isHolder(m, name, i):
			roles[name], roles[i] = Payer, Name
			return
		}
	}
}

// isHolder reports whether one name is that of the payer in all rows of money out and of the payee
// in all rows of money in, with at least one of each.
func (t *Table) isHolder(m *Money, payer, payee int) bool {
	holder, out, in := "", 0, 0
	for r, v := range m.values {
		if !v.ok || v.n.Sign() == 0 {
			continue
		}
		text := t.cell(r, payer).Text
		if v.n.Sign() > 0 {
			text = t.cell(r, payee).Text
			in++
		} else {
			out++
		}
		if text == "" || holder != "" && text != holder {
			return false
		}
		holder = text
	}
	return out > 0 && in > 0
}

// notOwnName chooses another column of names if the chosen one has the same name in all rows, which
// is the holder's, and the other one has several.
func (t *Table) notOwnName(roles []Role) {
	at := slices.Index(roles, Name)
	if _, fixed := t.Fixed[at]; at < 0 || fixed || slices.Contains(roles, Payer) ||
		len(t.Rows) < 2 || len(t.cols[at].distinct) != 1 || t.cols[at].filled < len(t.Rows) {
		return
	}
	for i, role := range roles {
		if role == "" && len(t.cols[i].distinct) > 1 && t.wordy(i) && t.fits(Name, i) &&
			(Rank(Name, t.name(i)) >= 0 || t.namesOther(i)) {
			roles[at], roles[i] = "", Name
			return
		}
	}
}

// hasPayee reports whether there is a column of payees, so that another one can be of payers.
func (t *Table) hasPayee(roles []Role) bool {
	for i, role := range roles {
		if role == Name || role == "" && Rank(Name, t.name(i)) >= 0 &&
			Rank(Payer, t.name(i)) < 0 && t.fits(Name, i) {
			return true
		}
	}
	return false
}

// fits reports whether the cells of a column can have a role. Empty ones can.
func (t *Table) fits(role Role, i int) bool {
	c := &t.cols[i]
	if c.filled == 0 {
		return role != Account
	}
	switch role {
	case Account:
		return t.everywhere(i)
	case Currency, ForeignCurrency:
		return c.currencies*2 >= c.filled
	case Foreign:
		return c.numbers*2 >= c.filled
	case Name, Payer:
		return c.accounts*2 < c.filled && (c.numbers < c.filled || len(t.Rows) < 3)
	case Counterparty:
		return c.words*2 < c.filled || c.accounts > 0 || Rank(Name, c.name) < 0
	case Status:
		return true
	case Category, Reference:
		return (c.pending+c.booked)*10 < c.filled*8 || c.filled == 0
	}
	return true
}

// accountsMax is the maximum number of own accounts in a sample. A column with more has accounts of
// other sides.
const accountsMax = 20

// everywhere reports whether a column can be that of the user's accounts, because every row has
// one.
func (t *Table) everywhere(i int) bool {
	return t.cols[i].filled == len(t.Rows) && len(t.cols[i].distinct) <= accountsMax
}

// statusByCells finds a column, under any name, whose words all mean booked or not booked.
func (t *Table) statusByCells(roles []Role) {
	if slices.Contains(roles, Status) {
		return
	}
	for i, role := range roles {
		c := &t.cols[i]
		if (role == "" || role == Memo || role == Category) && c.filled > 0 &&
			(c.pending+c.booked)*10 >= c.filled*8 {
			_, fixed := t.Fixed[i]
			if !fixed && t.otherWords(roles, i) && (c.filled > 1 || !t.isText(i)) {
				roles[i] = Status
				return
			}
		}
	}
}

// otherWords reports whether another column than i has words.
func (t *Table) otherWords(roles []Role, i int) bool {
	for o := range roles {
		if o != i && t.cols[o].words > 0 && roles[o] != Flag && roles[o] != Status {
			return true
		}
	}
	return false
}

// currencyByCells finds a column of currencies without a known name.
func (t *Table) currencyByCells(roles []Role) {
	if slices.Contains(roles, Currency) {
		return
	}
	for i, role := range roles {
		c := &t.cols[i]
		if role == "" && !t.isText(i) && c.filled > 0 && c.currencies == c.filled &&
			c.filled*2 > len(t.Rows) {
			roles[i] = Currency
			return
		}
	}
}

// accountsByCells decides whose account numbers are in a column with an unknown name, or with one
// that banks use for either side.
func (t *Table) accountsByCells(roles []Role) {
	for i, role := range roles {
		c := &t.cols[i]
		if _, fixed := t.Fixed[i]; fixed || c.filled == 0 {
			continue
		}
		either := slices.Contains(eitherSide, Key(c.name))
		switch {
		case role == Account && either, role == Counterparty && either:
		case role == "" && (either || c.accounts*10 >= c.filled*8 && !t.isReference(i)):
		default:
			continue
		}
		roles[i] = ""
		own := t.isOwn(roles, i)
		switch {
		case own && !slices.Contains(roles, Account):
			roles[i] = Account
		case !own && !slices.Contains(roles, Counterparty):
			roles[i] = Counterparty
		}
	}
}

// isReference reports whether the long numbers of a column identify payments, not accounts.
func (t *Table) isReference(i int) bool {
	return strings.Contains(squash(Key(t.name(i))), "referen") || t.cols[i].digits > 1 &&
		t.isCounting(i)
}

// isOwn reports whether the accounts of a column are the user's.
func (t *Table) isOwn(roles []Role, i int) bool {
	c := &t.cols[i]
	if len(t.Own) > 0 {
		for text := range c.distinct {
			if !slices.Contains(t.Own, Squeeze(text)) {
				return false
			}
		}
		return true
	}
	if !t.everywhere(i) {
		return false
	}
	named := slices.Contains(roles, Name) || slices.Contains(roles, Payer)
	switch {
	case slices.Contains(roles, Account):
		return false
	case c.accounts == 0 && c.digits == 0:
		return true // Names that a person gave to accounts.
	case slices.Contains(roles, Counterparty):
		return true
	case len(t.Rows) == 1:
		return !named || Rank(Counterparty, c.name) < 0 && !slices.Contains(eitherSide, Key(c.name))
	case len(c.distinct) == 1:
		return true
	}
	name := slices.Index(roles, Name)
	if name < 0 {
		// The user's account is usually the first one.
		return len(c.distinct)*2 <= len(t.Rows) || i == 0 && len(c.distinct) < len(t.Rows)
	}
	// An account of the other side always has the same name with it.
	pairs := make(map[[2]string]bool)
	for r := range t.Rows {
		pairs[[2]string{t.cell(r, i).Text, t.cell(r, name).Text}] = true
	}
	return len(pairs) > len(c.distinct)
}

// Squeeze returns the letters and digits of an account's number.
func Squeeze(text string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '.' || r == '/' {
			return -1
		}
		return r
	}, strings.ToUpper(text))
}

// nameByWord returns a column of words that has a part of a name of the other side, or -1. Words
// that are the same in all rows are about the user.
func (t *Table) nameByWord(roles []Role) int {
	for i, role := range roles {
		if role == "" && t.wordy(i) && Rank(Memo, t.name(i)) < 0 && !t.isConstant(i) &&
			t.namesOther(i) {
			return i
		}
	}
	return -1
}

// namesOther reports whether the name of a column has a word for the other side.
func (t *Table) namesOther(i int) bool {
	words := tokens(t.name(i))
	if sharesWord(words, aboutOther) {
		return false
	}
	if slices.ContainsFunc(words, func(w string) bool {
		return slices.ContainsFunc(otherSides, func(o string) bool {
			return strings.HasPrefix(w, o) && len(w) > len(o)
		})
	}) {
		return true
	}
	return sharesWord(words, nameWords) && !sharesWord(words, ownWords)
}

// otherSides are beginnings of words for the other side, such as counterparty and Gegenpartei.
var otherSides = []string{
	"tegenreken", "tegenpart", "gegenpart", "gegenseit", "counterpart", "contrepart", "contrapart",
	"controparte", "protistran", "protiuc", "vastapuol", "motpart", "modpart", "kontrahent",
	"kontragent", "контрагент",
}

// aboutOther are words for data about the other side that is not its name.
var aboutOther = []string{
	"referenca", "reference", "referenz", "opis", "kood", "code", "kod", "panga", "bank", "banka",
	"bic", "swift", "iban", "adres", "address", "adresse", "adresa", "city", "postcode", "country",
	"land", "id",
}

// sharesWord reports whether a word is one of a list, or an inflected form of a long one.
func sharesWord(a, b []string) bool {
	return slices.ContainsFunc(a, func(w string) bool {
		return slices.ContainsFunc(b, func(o string) bool {
			return w == o || len(o) > inflectedMin && strings.HasPrefix(w, o) &&
				len(w) <= len(o)+2
		})
	})
}

// inflectedMin is the minimum length of a word that means the same with one or two more letters.
const inflectedMin = 6

// wordy reports whether a column has words that are of use to a person.
func (t *Table) wordy(i int) bool {
	c := &t.cols[i]
	return c.words > 0 && c.words*2 >= c.filled
}

// isCodes reports whether a column has an identifier in each row: one word with digits.
func (t *Table) isCodes(i int) bool {
	c := &t.cols[i]
	if len(c.distinct) < c.filled {
		return false
	}
	for text := range c.distinct {
		if strings.ContainsRune(text, ' ') || len(text) < 6 ||
			!strings.ContainsAny(text, "0123456789") {
			return false
		}
	}
	return c.filled > 1
}

// texts makes the columns of words without a role columns of text, and returns all columns of text
// in the order in which they are read: those with a known name first, then the longest and most
// varied. Left are the columns with cells that are not read.
func (t *Table) texts(roles []Role) (memos, left []int) {
	var known, unknown []int
	for i, role := range roles {
		_, fixed := t.Fixed[i]
		switch {
		case role == Memo:
			known = append(known, i)
		case role != "" || fixed:
		case Rank(Memo, t.name(i)) >= 0:
			known = append(known, i)
		case t.wordy(i) && !t.isCodes(i):
			unknown = append(unknown, i)
		}
	}
	free := len(known) == 0 && !slices.Contains(roles, Name)
	unknown = slices.DeleteFunc(unknown, func(i int) bool {
		// A text that is the same in all rows, or sorts them, is not the text of a payment if there
		// is another.
		return (len(unknown) > 1 || !free) &&
			(t.isConstant(i) || t.isOwnText(i) || t.sorts(i) || t.isOwnName(roles, i))
	})
	slices.SortStableFunc(unknown, func(a, b int) int {
		x, y := &t.cols[a], &t.cols[b]
		return cmp.Or(cmp.Compare(len(y.distinct), len(x.distinct)),
			cmp.Compare(y.letters, x.letters))
	})
	memos = append(known, unknown...)
	if len(memos) == 0 {
		if i := slices.Index(roles, Reference); i >= 0 && t.wordy(i) {
			if _, fixed := t.Fixed[i]; !fixed {
				roles[i], memos = Memo, []int{i}
			}
		}
	}
	for _, i := range memos {
		roles[i] = Memo
	}
	for i, role := range roles {
		if role == "" && t.cols[i].filled > 0 {
			left = append(left, i)
		}
	}
	return memos, left
}

// notes separates columns of words from others.
func (t *Table) notes(columns []int) (notes, left []int) {
	for _, i := range columns {
		_, fixed := t.Fixed[i]
		if c := &t.cols[i]; !fixed && c.words > c.currencies {
			notes = append(notes, i)
		} else {
			left = append(left, i)
		}
	}
	return notes, left
}

// Notes returns the columns of words without a role among those that are fixed.
func (t *Table) Notes() []int {
	width := len(t.Header)
	for _, row := range t.Rows {
		width = max(width, len(row))
	}
	t.count(width)
	all := make([]int, width)
	for i := range all {
		all[i] = i
	}
	notes, _ := t.notes(all)
	return notes
}

func (t *Table) isConstant(i int) bool {
	c := &t.cols[i]
	return len(t.Rows) > 2 && len(c.distinct) == 1 && c.filled == len(t.Rows)
}

// isOwnText reports whether a column names the user's account or its holder.
func (t *Table) isOwnText(i int) bool {
	return len(t.cols[i].distinct) <= 2 && sharesWord(tokens(t.name(i)), ownWords)
}

// isOwnName reports whether a column of names is the user's, if another one has those of the other
// side: it is the same in all rows.
func (t *Table) isOwnName(roles []Role, i int) bool {
	return slices.Contains(roles, Name) && Rank(Name, t.name(i)) >= 0 &&
		len(t.cols[i].distinct) == 1 && t.cols[i].filled == len(t.Rows)
}

// sorts reports whether a column has a name of kinds or categories.
func (t *Table) sorts(i int) bool {
	return Rank(Category, t.name(i)) >= 0 || t.isSubject(i) ||
		slices.ContainsFunc(tokens(t.name(i)), func(w string) bool {
			switch w {
			case "bic", "swift", "blz", "bankleitzahl", "sortcode":
				return true
			}
			return false
		})
}

// isSubject reports whether a column has a name of categories, which are about the subject of a
// payment and never about its direction. Kinds and types may be about either.
func (t *Table) isSubject(i int) bool {
	return slices.ContainsFunc(tokens(t.name(i)), func(w string) bool {
		switch w {
		case "category", "kategorie", "categorie", "categoria", "kategoria", "kategori",
			"категория", "tag", "tags":
			return true
		}
		return false
	})
}
