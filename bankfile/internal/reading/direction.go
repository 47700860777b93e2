package reading

import (
	"slices"
	"strings"
)

// outWords and inWords are the words in a column of direction, folded.
var (
	outWords = []string{
		"d", "dr", "db", "dbt", "dbit", "debit", "debet", "debito", "af", "out", "outflow",
		"s", "soll", "belastung", "lastschrift", "money out", "kiadas", "terheles", "-", "−",
		"obciazenie", "withdrawal", "paid out", "expense", "cargo", "addebito", "dare", "ut",
		"debitering", "sortie", "uitgaand", "debit card", "sent", "vydej", "odchozi",
		"ausgang", "ausgabe", "depense", "gasto", "uscita", "utgift", "utgaende", "udgaende",
		"uttag", "uttak", "wydatek", "wychodzace", "rashod", "расход", "списание", "дебет", "дт",
		"χρεωση", "支出", "出金", "支払", "borc", "meno", "veloitus", "isplata", "duguje",
		"outgoing", "payment out", "spend", "debited", "saida", "despesa", "d-", "deb", "reti",
		"retiro", "odeslano", "vydaje", "iesire", "debiteur", "credit card purchase", "paid",
		"charge", "dbt", "af (debet)", "debitado", "chargeback out", "money-out", "terh", "χ",
		"debets", "deebet", "支出",
	}
	inWords = []string{
		"c", "cr", "crd", "crdt", "credit", "credito", "bij", "in", "inflow", "h",
		"haben", "gutschrift", "money in", "bevetel", "jovairas", "+", "uznanie", "deposit",
		"paid in", "income", "abono", "accredito", "avere", "kreditering", "entree", "inkomend",
		"received", "prijem", "prichozi", "kredit",
		"eingang", "einnahme", "recette", "ingreso", "entrata", "insattning", "innskudd", "inkomst",
		"ingaende", "indgaende", "wplyw", "przychodzace", "prihod", "приход", "зачисление",
		"кредит",
		"кт", "πιστωση", "収入", "入金", "收入", "alacak", "tulo", "hyvitys", "uplata", "potrazuje",
		"incoming", "payment in", "credited", "entrada", "receita", "crediteur", "prijato",
		"prijmy", "intrare", "creditado", "cred", "abon", "credit card payment", "bij (credit)",
		"inflows", "money-in", "π", "k", "kredits", "kreedit",
	}
)

// Direction returns -1 for a word that means money out, 1 for money in, 0 for another word.
func Direction(word string) int {
	plain := strings.TrimSuffix(Fold(strings.TrimSpace(word)), ".")
	return directions[plain]
}

// directions has the direction of each word.
var directions = func() map[string]int {
	all := make(map[string]int)
	for _, word := range outWords {
		all[word] = -1
	}
	for _, word := range inWords {
		all[word] = 1
	}
	return all
}()

// DirectionIn is Direction with more words for money out and in. If there are more words for money
// out only, each unknown word means money in.
func DirectionIn(word string, out, in []string) int {
	if word == "" {
		return 0
	}
	same := func(w string) bool { return strings.EqualFold(w, word) }
	switch {
	case slices.ContainsFunc(out, same):
		return -1
	case slices.ContainsFunc(in, same):
		return 1
	}
	if d := Direction(word); d != 0 {
		return d
	}
	if len(out) > 0 && len(in) == 0 {
		return 1
	}
	return 0
}

// spendWords, gainWords and paidWords are parts of texts and kinds that are written from the view
// of the holder of a card: something was bought, something was refunded, or the card was paid. Only
// paidWords never occur with money that leaves an account.
var (
	spendWords = []string{
		"purchase", "merchandise", "kartenkauf", "einkauf", "achat", "compra", "acquisto",
		"aankoop", "varekjop", "zakup", "nakup", "interest charge", "annual fee",
		"late fee", "cash advance", "bezug",
	}
	gainWords = []string{
		"refund", "cashback", "gutschrift", "ruckerstattung", "remboursement", "reembolso",
		"rimborso", "terugbetaling", "aterbetalning", "credit adjustment",
	}
	paidWords = []string{
		"thank you", "payment received", "payments and credits", "payment/credit",
		"zahlung erhalten", "ihre zahlung", "votre paiement", "paiement recu", "pago recibido",
		"pagamento recebido", "betaling ontvangen", "betaling mottatt", "inbetalning tack",
		"pagamento ricevuto", "繳款", "還款", "还款", "payment - received", "autopay received",
	}
)

// side is the meaning of a text from the view of the holder of a card.
type side int

const (
	sideUnsaid side = iota
	sideSpent
	sideGained
	sidePaid
)

func sideOf(text string) side {
	plain := Fold(text)
	has := func(w string) bool { return strings.Contains(plain, w) }
	switch {
	case plain == "":
		return sideUnsaid
	case slices.ContainsFunc(paidWords, has):
		return sidePaid
	case slices.ContainsFunc(gainWords, has):
		return sideGained
	case slices.ContainsFunc(spendWords, has):
		return sideSpent
	}
	return sideUnsaid
}

// Booking is whether an entry is booked.
type Booking int

// The states of an entry. Never is for an entry that moved no money and will move none.
const (
	Unsaid Booking = iota
	Booked
	Pending
	Never
)

var bookingWords = map[Booking][]string{
	Pending: {
		"pending", "authorised", "authorized", "vorgemerkt", "reserved", "open", "processing",
		"umsatz vorgemerkt", "en attente", "pendiente", "in behandeling", "oczekujaca",
		"nicht gebucht", "vorgemerkter umsatz", "ausstehend", "offen", "a venir", "en cours",
		"en cours de traitement", "non comptabilise", "gereserveerd", "gereserveerde transactie",
		"in afwachting", "nog niet geboekt", "reservert", "reserveret", "reserverad", "reserverat",
		"ventende", "venter", "afventer", "vantar", "vantande", "avventer", "odottaa", "varaus",
		"katevaraus", "in sospeso",
		"non contabilizzato", "da contabilizzare", "in attesa", "pendente", "retenido",
		"pendiente de contabilizar", "en proceso", "zablokowana", "blokada", "niezaksiegowana",
		"cekajici", "nezauctovano", "blokace", "fuggoben", "zarolas", "beklemede", "hold",
		"on hold", "authorization", "authorisation", "unposted", "not posted", "pre-authorised",
		"uncleared", "temporary", "vorlaufig", "ikke bokfort", "ej bokford", "preliminar",
		"preliminart", "в обработке", "ожидает", "処理中", "未確定", "εκκρεμει",
	},
	Booked: {
		"booked", "gebucht", "umsatz gebucht", "posted", "completed", "settled", "cleared",
		"comptabilise", "execute", "executee", "geboekt", "verwerkt", "uitgevoerd", "bokfort",
		"bokford", "bogfort", "kirjattu", "contabilizado", "contabilizzato", "eseguito",
		"ejecutado", "zaksiegowana", "wykonana", "zrealizowana", "zauctovano", "provedeno",
		"konyvelt", "teljesult", "done", "success", "successful", "paid", "final", "erledigt",
		"abgerechnet", "ausgefuhrt", "effectue", "realizado", "concluido", "liquidado", "utfort",
		"gennemfort", "processed", "confirmed", "approved", "исполнен", "выполнен", "確定",
	},
	Never: {
		"reverted", "declined", "failed", "cancelled", "canceled", "denied", "rejected",
		"voided", "expired", "abgelehnt", "storniert", "geannuleerd", "refuse", "annule",
		"rechazado", "cancelado", "odrzucona", "anulowana", "refusee", "annulee", "geweigerd",
		"avvist", "afvist", "avbruten", "nekad", "annullato", "rifiutato", "rechazada",
		"cancelada", "zamitnuto", "zruseno",
	},
}

// BookingOf returns the booking state that a word means.
func BookingOf(word string) Booking {
	plain := strings.Trim(Fold(strings.TrimSpace(word)), ".*() ")
	if plain == "" || len(plain) > 40 {
		return Unsaid
	}
	return bookings[plain]
}

// bookings has the state of each word.
var bookings = func() map[string]Booking {
	all := make(map[string]Booking)
	for state, words := range bookingWords {
		for _, word := range words {
			all[word] = state
		}
	}
	return all
}()
