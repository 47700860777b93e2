package bankfile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
)

// Profile is how the CSV files of one bank are read. A file belongs to it if it has its header;
// Open then asks nothing.
type Profile struct {
	Country string   // ISO 3166-1 alpha-2; empty for a bank of several countries.
	Header  []string // The names of all columns, in their order.
	Mapping Mapping  // Its Name is that of the bank and the kind of account.

	account *regexp.Regexp // Matches the account's parts in the lines before the header.
}

// Profiles returns the known profiles: those of banks in New Zealand and of Revolut, whose headers
// are unique. Open uses the one with the header of the file, and its Name is that of File.Mapping.
// Evidence in the rows, such as the order of day and month, is preferred to the profile, and so is
// a mapping with columns.
func Profiles() []Profile {
	return []Profile{
		profile("ANZ New Zealand, account", false, "Type category", "Details name",
			"Particulars memo", "Code memo", "Reference reference", "Amount amount", "Date date",
			"ForeignCurrencyAmount foreignAmount", "ConversionCharge ignore"),
		// D and C are the direction, and several cards may belong to one account.
		profile("ANZ New Zealand, card", false, "Card ignore", "Type flag", "Amount amount",
			"Details name", "TransactionDate authorisedDate", "ProcessedDate date",
			"ForeignCurrencyAmount foreignAmount", "ConversionCharge ignore"),
		asb(profile("ASB, account", false, "Date date", "Unique Id bankId", "Tran Type category",
			"Cheque Number reference", "Payee name", "Memo memo", "Amount amount")),
		// Charges are positive. The reference is the end of the card's number.
		profile("ASB, card", true, "Date Processed date", "Date of Transaction authorisedDate",
			"Unique Id bankId", "Tran Type category", "Reference ignore", "Description name",
			"Amount amount"),
		profile("BNZ, account", false, "Date authorisedDate", "Amount amount", "Payee name",
			"Particulars memo", "Code memo", "Reference reference", "Tran Type category",
			"This Party Account account", "Other Party Account counterparty", "Serial ignore",
			"Transaction Code ignore", "Batch Number ignore", "Originating Bank/Branch ignore",
			"Processed Date date"),
		profile("BNZ, card", false, "Date authorisedDate", "Amount amount", "Payee name",
			"Particulars memo", "Code memo", "Reference reference", "Tran Type category",
			"Processed Date date"),
		profile("Kiwibank, account", false, "Account number account", "Date date",
			"Memo/Description memo", "Source Code (payment type) category", "TP ref reference",
			"TP part memo", "TP code memo", "OP ref memo", "OP part memo", "OP code memo",
			"OP name name", "OP Bank Account Number counterparty", "Amount (credit) credit",
			"Amount (debit) debit", "Amount amount", "Balance balance"),
		profile("Westpac New Zealand, account", false, "Date date", "Amount amount",
			"Other Party name", "Description memo", "Reference reference", "Particulars memo",
			"Analysis Code memo"),
		revolut(profile("Revolut", false, "Type category", "Product ignore",
			"Started Date authorisedDate", "Completed Date date", "Description memo",
			"Amount amount", "Fee fee", "Currency currency", "State status", "Balance balance")),
	}
}

// profile returns a profile of New Zealand. Each column is its name and its role. All banks there
// write the day first and a decimal point.
func profile(name string, invert bool, columns ...string) Profile {
	p := Profile{
		Country: "NZ",
		Mapping: Mapping{Version: MappingVersion, Name: name, Delimiter: ",", DateOrder: DayFirst,
			Decimal: string(rune(cells.MarkPoint)), Invert: invert, Currency: "NZD"},
	}
	for i, column := range columns {
		at := strings.LastIndexByte(column, ' ')
		header, role := column[:at], Role(column[at+1:])
		p.Header = append(p.Header, header)
		p.Mapping.Columns = append(p.Mapping.Columns, Column{Index: i, Name: header, Role: role})
	}
	return p
}

// asb adds the line in which ASB names the account: "Bank 12; Branch 3456; Account 0123456-00
// (Streamline)".
func asb(p Profile) Profile {
	p.account = regexp.MustCompile(
		`^Bank (\d{2}); Branch (\d{4}); Account (\d{7}-\d{2,3})\b`)
	return p
}

// revolut replaces the settings of New Zealand: Revolut writes the year first, and a currency in
// each row.
func revolut(p Profile) Profile {
	p.Country, p.Mapping.Currency, p.Mapping.DateOrder = "", "", YearFirst
	return p
}

// profileOf returns the profile that has exactly this header, or nil.
func profileOf(header []string) *Profile {
	for len(header) > 0 && header[len(header)-1] == "" {
		header = header[:len(header)-1]
	}
	if header == nil {
		return nil
	}
	for _, p := range Profiles() {
		if slices.Equal(p.Header, header) {
			return &p
		}
	}
	return nil
}

// useProfile takes the settings of the file's profile that the mapping does not have.
func (t *table) useProfile() {
	t.profile = profileOf(t.header)
	if t.profile == nil {
		return
	}
	if t.profile.account != nil {
		for _, line := range t.preamble {
			if parts := t.profile.account.FindStringSubmatch(line); parts != nil {
				t.owner = strings.Join(parts[1:], "-")
			}
		}
	}
	m, known := &t.set.mapping, &t.profile.Mapping
	if len(m.Columns) > 0 {
		return
	}
	m.Columns, m.Invert = slices.Clone(known.Columns), m.Invert || known.Invert
	if m.Name == "" {
		m.Name = known.Name
	}
	if m.Currency == "" && t.set.currency == "" {
		m.Currency = known.Currency
	}
}
