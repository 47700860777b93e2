package bankfile

import (
	"strings"
	"unicode"
)

// headerWords are names of columns as banks write them, folded as by headerKey. Within a role the
// more telling name stands first: the day of booking before the day of purchase, the booked
// amount before a plain one.
var headerWords = map[Role][]string{
	RoleDate: {
		"booking date", "posting date", "posted date", "date posted", "post date", "posted",
		"processed date", "date processed", "process date", "transaction date",
		"buchungstag", "buchungsdatum", "buchung", "datum zauctovani", "boekdatum",
		"boekingsdatum", "date de comptabilisation", "date comptable", "date operation",
		"date de l operation", "dateop", "fecha operacion", "fecha contable", "fecha",
		"data contabile",
		"data operazione", "data", "data operacji", "data ksiegowania", "data transakcji",
		"data movimento", "data mov", "data lancamento", "bokforingsdag", "bokforingsdatum",
		"bokforingsdato",
		"bokfort dato", "bogforingsdato", "bogfort", "transaktionsdatum", "transactiedatum",
		"kirjauspaiva", "datum provedeni", "datum", "date", "dato", "pvm", "konyveles datuma",
		"tranzakcio datuma", "tranzakcios datum", "datum transakce", "date transaction",
		"completed date", "started date", "created", "created at", "timestamp", "time", "tarih",
		"valutadatum", "valuta datum", "dag", "trans date", "transaction date time", "created on",
		"belegdatum", "umsatztag", "date time", "date utc", "transaction posted date",
	},
	RoleValueDate: {
		"value date", "valuta", "valutadatum", "wertstellung", "wertstellungstag",
		"wertstellungsdatum", "valutadag", "rentedatum",
		"date de valeur", "date valeur", "dateval", "fecha valor", "data valuta", "data valor",
		"data waluty", "erteknap", "value", "rentedato", "valuteringsdag", "effective date",
		"value dt",
		"datum provedeni", "arvopaiva",
	},
	RoleAuthorisedDate: {
		"transaktionsdag", "authorised date", "authorized date",
		"date authorised", "date of transaction",
		"transaction date", "transactiondate", "trans date", "purchase date", "date of purchase",
		"started date", "belegdatum", "kaufdatum", "transaktionsdatum", "transactiedatum",
		"date d achat", "date de transaction", "fecha de compra", "fecha operacion",
		"data transakcji", "datum transakce", "date transaction", "kjopsdato", "inkopsdatum",
	},
	RoleAmount: {
		"amount", "montant euros", "montant en euros", "betrag",
		"buchungsbetrag", "umsatz", "bedrag", "montant", "importe", "importo",
		"valor", "kwota", "kwota operacji", "kwota transakcji", "castka", "zauctovana castka",
		"castka v mene uctu", "objem", "osszeg", "tranzakcio osszege", "belopp", "belob",
		"belop", "summa", "maara", "transaction amount", "amount in account currency",
		"net amount", "net", "tutar", "montante", "value amount", "billing amount", "paid amount",
		"amount signed", "montant de l operation", "ammontare", "bedrag eur", "amt",
		"transaction value", "movement",
	},
	RoleDebit: {
		"debit", "debit euros", "debit eur", "debit amount",
		"amount debit", "debits", "money out", "paid out", "withdrawal",
		"withdrawals", "withdrawal amount", "withdrawal amt",
		"payments out", "out", "outflow", "soll",
		"belastung", "lastschrift", "debet", "af", "uitgaven", "sortie", "depense", "debito",
		"cargo",
		"cargos", "addebiti", "addebito", "dare", "uscite", "saida", "obciazenia", "obciazenie",
		"wydatki", "terheles", "ut", "ut av konto", "uttak", "spent", "charge", "charges",
		"funds out", "paid out amount",
	},
	RoleCredit: {
		"credit", "credit euros", "credit eur", "credit amount",
		"amount credit", "credits", "money in", "paid in", "deposit",
		"deposits", "deposit amount", "deposit amt",
		"payments in", "in", "inflow", "haben", "gutschrift",
		"bij", "inkomsten", "entree", "recette", "credito", "abono", "abonos", "accrediti",
		"accredito", "avere", "entrate", "entrada", "uznania", "uznanie", "wplywy", "jovairas",
		"inn", "inn pa konto", "innskudd", "received", "funds in", "paid in amount",
	},
	RoleDirection: {
		"dc", "d c", "debit credit", "cr dr", "dr cr", "credit debit", "credit debit indicator",
		"debit credit indicator", "direction", "af bij", "bij af", "soll haben", "s h",
		"bevetel kiadas", "sign", "code debit credit", "sens", "dbcr", "db cr", "crdr", "drcr",
		"soll haben kennzeichen", "debit or credit", "in out", "transaction direction",
		"credit or debit",
	},
	RoleCurrency: {
		"currency", "buchungswahrung", "waehrung", "wahrung", "munt", "muntsoort", "devise",
		"divisa", "moneda", "valuta", "mena", "mena uctu", "waluta", "devizanem",
		"tranzakcio devizaneme", "valuta kod", "ccy", "currency code", "account currency", "moeda",
		"curr", "waluta operacji", "payment currency", "transaction currency", "para birimi",
	},
	RoleBalance: {
		"balance", "saldo", "running balance", "running bal", "bokfort saldo",
		"account balance", "kontostand", "solde",
		"saldo na trn", "saldo na mutatie", "egyenleg", "zustatek", "kontosaldo", "saldo contable",
		"saldo po operacji", "balance after", "closing balance", "available balance",
		"saldo nach buchung", "saldo disponible", "bakiye", "saldo na boeking",
		"zustatek po transakci", "saldo eur",
	},
	RoleName: {
		"payee", "merchant", "merchant name", "counterparty", "counterparty name", "name",
		"naam tegenpartij", "naam", "naam omschrijving", "tegenpartij naam",
		"auftraggeber empfanger",
		"auftraggeber beguenstigter", "beguenstigter zahlungspflichtiger",
		"begunstigter zahlungspflichtiger", "beguenstigter auftraggeber", "empfanger",
		"name zahlungsbeteiligter", "zahlungsempfanger", "zahlungspflichtige r",
		"zahlungsempfanger in", "partner neve", "partner", "partnername", "nazev protiuctu",
		"jmeno protiuctu", "other party", "other party name", "beneficiary", "bnificiaire",
		"beneficiaire", "nom", "beneficiario", "contrapartida", "kontrahent",
		"nadawca odbiorca", "odbiorca", "mottaker", "mottagare", "saaja maksaja",
		"saaja", "counter party", "target name", "name of counterparty", "transaction party",
	},
	RoleMemo: {
		"description", "lancamento", "title", "memo",
		"details", "narrative", "narration", "particulars", "verwendungszweck",
		"buchungstext", "omschrijving", "mededelingen", "omschrijving 1", "omschrijving 2",
		"omschrijving 3", "libelle", "libelle operation", "concepto", "descripcion",
		"observaciones",
		"descrizione", "causale", "descricao", "historico", "opis", "opis operacji", "tytul",
		"tytul operacji", "zprava", "zprava pro prijemce", "kozlemeny", "megjegyzes", "tekst",
		"text", "beskrivning", "beskrivelse", "forklaring", "meddelande", "selite", "viesti",
		"note", "notes", "transaction details", "transaction description", "reference text",
		"transaktionsbeschreibung", "transaktionsbeschreibung zusatz", "vrije mededeling",
		"memo description", "statement descriptor", "communication", "communications",
		"poznamka", "aciklama", "extended details", "other details", "analysis",
		"gestructureerde mededeling", "statement details", "purpose", "remittance information",
	},
	RoleID: {
		"transaction id", "id", "id transakce", "transactionid", "unique id", "fitid",
		"id pohybu", "id transakcji", "transaction number", "buchungsreferenz", "bank reference",
		"volgnr", "tx id", "uuid", "transaction uuid", "numer transakcji", "transaction hash",
		"balance id", "unique transaction id",
	},
	RoleReference: {
		"reference", "ref", "referenz", "kundenreferenz", "kundenreferenz end to end",
		"transactiereferentie", "referentie", "referencia", "riferimento", "vs", "cheque",
		"check number", "cheque number", "check", "cheque no", "check no", "serial", "chq ref no",
		"megbizas azonosito", "customer reference", "variabilni symbol", "mandatsreferenz",
		"betalingskenmerk", "payment reference", "reference number", "receipt",
	},
	RoleCounterparty: {
		"tegenrekening", "tegenrekening iban bban", "tegenrekening iban", "kontonummer iban",
		"iban kontonummer", "counterparty iban", "counterparty account",
		"rekeningnummer tegenpartij", "partner szamlaszama", "cislo protiuctu", "protiucet",
		"gegenkonto", "iban auftraggeber empfanger", "iban zahlungsbeteiligter", "kontonummer",
		"other account", "other party account", "other party account number",
		"numer rachunku nadawcy odbiorcy", "to account", "compte contrepartie",
		"nr rachunku odbiorcy", "payee account", "partner iban", "konto kontrahenta",
		"account number of counterparty", "counterparty account number",
	},
	RoleAccount: {
		"account", "account number", "iban bban", "iban", "rekening", "rekeningnummer",
		"auftragskonto", "iban auftraggeberkonto", "auftraggeberkonto", "konto", "cislo uctu",
		"szamlaszam", "cuenta", "conto", "compte", "account no", "account name", "rachunek",
		"numer rachunku", "iban auftragskonto", "card number", "bank account", "bankkonto",
		"hesap no",
	},
	RoleCategory: {
		"category", "type", "transaction type", "umsatzart", "kategorie", "code", "categorie",
		"categoria", "kategoria", "typ transakce", "tranzakcio tipusa", "mutatiesoort",
		"kategorie transakce", "soort", "tran type", "kind", "transaction category",
		"rodzaj operacji", "typ operacji",
	},
	RoleForeign: {
		"original amount", "foreign amount", "local amount", "originalbetrag", "oorspr bedrag",
		"foreign currency amount", "fx amount", "fremdwahrungsbetrag", "betrag in fremdwahrung",
		"betrag in fw", "puvodni castka", "kwota oryginalna", "amount foreign currency",
		"source amount", "importe original",
		"transaction currency amount", "original transaction amount",
	},
	RoleForeignCurrency: {
		"original currency", "foreign currency", "local currency", "originalwahrung",
		"oorspr munt", "fremdwahrung", "original transaction currency", "source currency",
		"puvodni mena", "fx currency", "foreign currency code",
	},
	RoleStatus: {
		"status", "state", "booking status", "transaction status", "stav", "stan",
	},
}

// fold makes letters plain: lower case without accents, as far as names of columns and months
// need it.
func fold(text string) string {
	plain := true
	for i := range len(text) {
		if text[i] >= 0x80 || text[i] >= 'A' && text[i] <= 'Z' {
			plain = false
			break
		}
	}
	if plain {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 {
			return unicode.ToLower(r)
		}
		r = unicode.ToLower(r)
		for _, f := range folds {
			if strings.ContainsRune(f.from, r) {
				return f.to
			}
		}
		return r
	}, text)
}

// folds lists letters with accents beside the plain ones.
var folds = []struct {
	from string
	to   rune
}{
	{"áàâäãåăąā", 'a'}, {"çčćĉ", 'c'}, {"ďđ", 'd'}, {"éèêëěęėē", 'e'}, {"ğ", 'g'},
	{"íìîïıī", 'i'}, {"ľĺł", 'l'}, {"ñňń", 'n'}, {"óòôöõőøō", 'o'}, {"řŕ", 'r'},
	{"šśşșß", 's'}, {"ťţț", 't'}, {"úùûüůűū", 'u'}, {"ýÿ", 'y'}, {"žźż", 'z'}, {"æ", 'a'},
}

// headerKey folds a header: letters and digits, one blank between words, without what stands in
// parentheses, such as a currency, unless it says the direction, as in "Amount (credit)".
func headerKey(text string) string {
	if open := strings.IndexAny(text, "(["); open > 0 {
		if flagOf(strings.Trim(text[open:], "()[] "), nil, nil) == 0 {
			text = text[:open]
		}
	}
	words := strings.FieldsFunc(fold(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return strings.Join(words, " ")
}

// rankOf tells how telling a header is for a role: 0 is the best, -1 is not at all.
func rankOf(role Role, key string) int {
	for i, word := range headerWords[role] {
		if word == key {
			return i
		}
	}
	return -1
}

// knownHeader tells whether a cell is the name of a column.
func knownHeader(cell string) bool {
	key := headerKey(cell)
	if key == "" {
		return false
	}
	for _, role := range roles {
		if rankOf(role, key) >= 0 {
			return true
		}
	}
	return false
}

// headerCurrency returns the currency of a header such as "Amount (EUR)" or "Betrag EUR".
func headerCurrency(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), ")]")
	if len(text) < 4 {
		return ""
	}
	code := text[len(text)-3:]
	if c := text[len(text)-4]; c != ' ' && c != '(' && c != '[' {
		return ""
	}
	if c := currencyOf(code); c.Known() && code == string(c) {
		return code
	}
	return ""
}
