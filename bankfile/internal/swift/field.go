package swift

import (
	"fmt"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/money"
)

// tags are the tags of MT940 and MT942 messages. Other lines that begin with a colon and digits are
// text, because purposes are wrapped and a line of them may begin with ":26:37".
const tags = " 13 13D 20 21 25 25P 28 28C 34F 60F 60M 61 62F 62M 64 65 86 90C 90D NS "

// CutTag splits a line into its tag and the rest. The tag is empty if there is none.
func CutTag(line string) (tag, rest string) {
	if len(line) < 4 || line[0] != ':' {
		return "", line
	}
	end := strings.IndexByte(line[1:min(len(line), 5)], ':')
	if end < 2 || !strings.Contains(tags, " "+line[1:1+end]+" ") {
		return "", line
	}
	return line[1 : 1+end], line[2+end:]
}

// CutNumber splits a text such as 19322/1 into the number of the statement and that of the page,
// which is 0 if there is none.
func CutNumber(text string) (number string, page int) {
	number, digits, ok := strings.Cut(text, "/")
	if !ok || len(digits) > 6 || !cells.AllDigits(digits) {
		return text, 0
	}
	for i := range len(digits) {
		page = page*10 + int(digits[i]-'0')
	}
	return number, page
}

// Balance is the content of :60F: or :62F:.
type Balance struct {
	Amount   money.Decimal
	Currency money.Currency
	Date     string // Empty if there is no such day.
}

// ReadBalance reads a balance such as C110522EUR3236,28.
func ReadBalance(text string) (b Balance, err error) {
	text = strings.TrimSpace(text)
	if len(text) < 11 || text[0] != 'C' && text[0] != 'D' {
		return b, fmt.Errorf("%q is not a balance", cells.Clip(text))
	}
	if b.Currency = cells.CurrencyOf(text[7:10]); b.Currency == "" {
		return b, fmt.Errorf("%q has no currency", cells.Clip(text))
	}
	if cells.AllDigits(text[1:7]) {
		b.Date, _ = readDate(text[1:7])
	}
	if b.Amount, err = ReadAmount(text[10:]); err != nil {
		return b, err
	}
	if text[0] == 'D' {
		b.Amount = b.Amount.Neg()
	}
	return b, nil
}

// ReadAmount reads an amount of SWIFT: the decimal mark is a comma, the digits after it are
// optional, and there may be leading zeros. Some banks write a point.
func ReadAmount(text string) (money.Decimal, error) {
	a, err := cells.SplitAmount(text)
	if err != nil || a.Negative {
		return money.Decimal{}, fmt.Errorf("%q is not an amount", cells.Clip(text))
	}
	mark := byte(cells.MarkComma)
	if strings.IndexByte(text, cells.MarkComma) < 0 {
		mark = cells.MarkPoint
	}
	return a.Read(mark)
}

// readDate reads a day of this century: two digits each for year, month and day.
func readDate(digits string) (string, bool) { return cells.CompactDate("20" + digits) }

// two reads two digits.
func two(digits string) int { return int(digits[0]-'0')*10 + int(digits[1]-'0') }
