package locations

// countries are boxes around countries in whole degrees, generous, without far islands: enough to
// notice coordinates that were swapped or have a wrong sign. A country that is not here is not
// checked. A box whose west is east of its east crosses the antimeridian.
var countries = map[string]Box{
	"AR": {-56, -74, -21, -53}, "AT": {46, 9, 49, 18}, "AU": {-44, 112, -9, 154},
	"BE": {49, 2, 52, 7}, "BG": {41, 22, 45, 29}, "BR": {-34, -74, 6, -34},
	"CA": {41, -142, 84, -52}, "CH": {45, 5, 48, 11}, "CL": {-56, -76, -17, -66},
	"CN": {18, 73, 54, 135}, "CO": {-5, -80, 13, -66}, "CZ": {48, 12, 52, 19},
	"DE": {47, 5, 56, 16}, "DK": {54, 8, 58, 16}, "EE": {57, 21, 60, 29},
	"EG": {21, 24, 32, 37}, "ES": {35, -10, 44, 5}, "FI": {59, 19, 71, 32},
	"FJ": {-22, 176, -12, -178}, "FR": {41, -6, 52, 10}, "GB": {49, -9, 61, 2},
	"GR": {34, 19, 42, 30}, "HR": {42, 13, 47, 20}, "HU": {45, 16, 49, 23},
	"ID": {-11, 94, 7, 142}, "IE": {51, -11, 56, -5}, "IL": {29, 34, 34, 36},
	"IN": {6, 68, 36, 98}, "IS": {63, -25, 67, -13}, "IT": {35, 6, 48, 19},
	"JP": {24, 122, 46, 146}, "KE": {-5, 33, 6, 42}, "KR": {33, 124, 39, 132},
	"LT": {53, 20, 57, 27}, "LU": {49, 5, 51, 7}, "LV": {55, 20, 59, 29},
	"MX": {14, -119, 33, -86}, "MY": {0, 99, 8, 120}, "NG": {4, 2, 14, 15},
	"NL": {50, 3, 54, 8}, "NO": {57, 4, 72, 32}, "NZ": {-48, 166, -34, -176},
	"PE": {-19, -82, 0, -68}, "PH": {4, 116, 22, 127}, "PL": {49, 14, 55, 25},
	"PT": {36, -10, 43, -6}, "RO": {43, 20, 49, 30}, "SE": {55, 10, 70, 25},
	"SG": {1, 103, 2, 105}, "SI": {45, 13, 47, 17}, "SK": {47, 16, 50, 23},
	"TH": {5, 97, 21, 106}, "TR": {35, 25, 43, 45}, "TW": {21, 119, 26, 123},
	"UA": {44, 22, 53, 41}, "US": {18, 172, 72, -66}, "VN": {8, 102, 24, 110},
	"ZA": {-35, 16, -22, 33},
}

// misplaced returns the sentence that a point does not lie in a country, or "".
func misplaced(p *Point, country string) string {
	box, known := countries[country]
	if !known || p == nil || box.Contains(*p) {
		return ""
	}
	if box.Contains(Point{p.Lng, p.Lat}) {
		return "lies outside " + country + ": latitude and longitude look swapped"
	}
	return "lies outside " + country
}
