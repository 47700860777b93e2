package money

// retired are the codes that ISO 4217 has withdrawn, which old statements and histories of rates
// still have, with the digits of their minor units. A currency whose smallest coin was a whole unit
// has none.
var retired = map[Currency]uint8{
	"ATS": 2, "BEF": 2, "BGN": 2, "CYP": 2, "DEM": 2, "EEK": 2, "ESP": 0, "FIM": 2, "FRF": 2,
	"GRD": 2, "HRK": 2, "IEP": 2, "ITL": 0, "LTL": 2, "LUF": 0, "LVL": 2, "MTL": 2, "NLG": 2,
	"PTE": 2, "ROL": 2, "SIT": 2, "SKK": 2, "TRL": 0,
}

// Retired reports whether ISO 4217 once had the code, such as "HRK". Amounts in it can be read and
// converted. Known is false, so that no account is opened in it.
func (c Currency) Retired() bool {
	_, ok := retired[c]
	return ok && !c.Known()
}

// valid reports whether a currency can have amounts.
func (c Currency) valid() bool { return c.Known() || c.Retired() }
