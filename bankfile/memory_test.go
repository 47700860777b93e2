package bankfile_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
)

// synthetic is a large file that is never held whole: a head, count pieces of one width, a tail.
type synthetic struct {
	head, tail string
	width      int
	count      int64
	piece      func(buf []byte, i int64) []byte // Appends exactly width bytes.
	buf        []byte
	at         int64 // The piece in buf, or -1.

	// watch, if set, is called whenever another sampleEach bytes were read.
	watch func()
	due   int
}

// sampleEach is after how many bytes of a file the memory is looked at.
const sampleEach = 1 << 20

func newSynthetic(head, tail string, count int64, piece func([]byte, int64) []byte) *synthetic {
	return &synthetic{head: head, tail: tail, width: len(piece(nil, 0)), count: count,
		piece: piece, at: -1}
}

func (s *synthetic) size() int64 {
	return int64(len(s.head)) + s.count*int64(s.width) + int64(len(s.tail))
}

// ReadAt is for one reader at a time.
func (s *synthetic) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		c := s.from(off + int64(n))
		if len(c) == 0 {
			return n, io.EOF
		}
		n += copy(p[n:], c)
	}
	if s.due += n; s.due >= sampleEach && s.watch != nil {
		s.due = 0
		s.watch()
	}
	return n, nil
}

// from returns what stands at an offset, up to the end of its piece.
func (s *synthetic) from(off int64) []byte {
	if off < int64(len(s.head)) {
		return []byte(s.head[off:])
	}
	off -= int64(len(s.head))
	i := off / int64(s.width)
	if i >= s.count {
		if off -= s.count * int64(s.width); off < int64(len(s.tail)) {
			return []byte(s.tail[off:])
		}
		return nil
	}
	if s.at != i {
		s.buf, s.at = s.piece(s.buf[:0], i), i
	}
	return s.buf[off%int64(s.width):]
}

// large makes a file of each format with count entries of 0.01, none like another.
func large(format bankfile.Format, count int64) *synthetic {
	head, tail, entry := "Date,Payee,Description,Amount,Transaction ID\n", "",
		"@@/01/2026,Shop ########,\"Bread, milk and eggs\",0.01,############\n"
	closing := fmt.Sprintf("%d.%02d", count/100, count%100)
	switch format {
	case bankfile.OFX:
		head = "<OFX><STMTRS><CURDEF>EUR<BANKACCTFROM><ACCTID>9</BANKACCTFROM><BANKTRANLIST>\n"
		tail = "</BANKTRANLIST></STMTRS></OFX>\n"
		entry = "<STMTTRN><TRNTYPE>OTHER\n<DTPOSTED>202601@@\n<TRNAMT>0.01\n" +
			"<FITID>############\n<NAME>Shop ########\n<MEMO>Bread, milk and eggs\n</STMTTRN>\n"
	case bankfile.QIF:
		head = "!Type:Bank\n"
		entry = "D@@/01/2026\nT0.01\nPShop ########\nMBread, milk and eggs\nLFood\n^\n"
	case bankfile.MT940:
		head = ":20:X\n:25:NL71RABO0123456789\n:28C:1\n:60F:C260101EUR0,\n"
		tail = ":62F:C260131EUR" + strings.Replace(closing, ".", ",", 1) + "\n-\n"
		entry = ":61:2601@@C0,01NTRFNONREF//############\n" +
			":86:166?00X?20SVWZ+Bread, milk?32Shop ########\n"
	case bankfile.CAMT:
		whole := camt("053", 8, balance("OPBD", "0", "CRDT")+balance("CLBD", closing,
			"CRDT")+"MANY")
		head, tail, _ = strings.Cut(whole, "MANY")
		entry = `<Ntry><Amt Ccy="CHF">0.01</Amt><CdtDbtInd>CRDT</CdtDbtInd>` +
			"<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-01-@@</Dt></BookgDt>" +
			"<AcctSvcrRef>############</AcctSvcrRef><NtryDtls><TxDtls><RltdPties><Dbtr><Pty>" +
			"<Nm>Shop ########</Nm></Pty></Dbtr></RltdPties><RmtInf><Ustrd>Bread</Ustrd>" +
			"</RmtInf></TxDtls></NtryDtls></Ntry>\n"
	}
	return newSynthetic(head, tail, count, numbered(entry))
}

// numbered makes the pieces of a file out of one in which @@ stands for a day and a run of # for
// the number of the piece. A large file must not cost more to make than to read.
func numbered(pattern string) func([]byte, int64) []byte {
	day := strings.Index(pattern, "@@")
	var runs [][2]int
	for at := 0; at < len(pattern); at++ {
		end := at
		for end < len(pattern) && pattern[end] == '#' {
			end++
		}
		if end > at {
			runs, at = append(runs, [2]int{at, end}), end
		}
	}
	return func(b []byte, i int64) []byte {
		from := len(b)
		b = append(b, pattern...)
		put(b[from+day:from+day+2], i%28+1)
		for _, run := range runs {
			put(b[from+run[0]:from+run[1]], i)
		}
		return b
	}
}

// put writes a number with leading zeros.
func put(b []byte, n int64) {
	for at := len(b) - 1; at >= 0; at-- {
		b[at], n = '0'+byte(n%10), n/10
	}
}

var formats = []bankfile.Format{
	bankfile.OFX, bankfile.QIF, bankfile.CSV, bankfile.MT940, bankfile.CAMT,
}

// The bounds of the memory tests. What a file needs besides the ids does not depend on its size.
const (
	fileBytes = 5 << 20  // Of each large file, times EXCHEQUER_ROUNDS.
	heldMax   = 2 << 20  // What may be held at any time, ids aside.
	harmMax   = 12 << 20 // What a hostile file may make us hold.
	idBytes   = 24       // For each bank id, with the room that a table grows into.
	idsMax    = 64 << 20 // For all of them.
)

// rounds is how many times longer than usual the tests run.
func rounds() int64 {
	n, err := strconv.ParseInt(os.Getenv("EXCHEQUER_ROUNDS"), 10, 16)
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// long leaves a test out of short runs, among them those of the race detector: one caller reads a
// file, and there it takes many times as long and as much memory.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it is long")
	}
}

// TestMemoryDoesNotGrowWithTheFile reads files that are larger than what they may take. With
// EXCHEQUER_ROUNDS=205 each has 1 GB.
func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	long(t)
	for _, format := range formats {
		t.Run(string(format), func(t *testing.T) {
			s := large(format, 1)
			s = large(format, rounds()*fileBytes/int64(s.width))
			bound := uint64(heldMax)
			if format != bankfile.QIF {
				bound += min(uint64(s.count)*idBytes, idsMax)
			}
			before := held()
			s.watch = func() { checkHeld(t, before, bound) }
			file, err := bankfile.Open(s, s.size(), bankfile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if file.Format != format {
				t.Fatalf("it is %s", file.Format)
			}
			rows := int64(0)
			totals, err := file.Each(func(row bankfile.Row) bool {
				if row.Outcome != bankfile.Read {
					t.Fatalf("%+v", row)
				}
				rows++
				return true
			})
			if err != nil || rows != s.count {
				t.Fatalf("%d rows of %d, %v", rows, s.count, err)
			}
			want, err := money.NewDecimal(s.count, 2)
			if err != nil || totals[0].Sum != want {
				t.Errorf("the sum is %s, not %s", totals[0].Sum, want)
			}
			checkHeld(t, before, bound)
			runtime.KeepAlive(file)
		})
	}
}

func held() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func checkHeld(t *testing.T, before, bound uint64) {
	t.Helper()
	if now := held(); now > before+bound {
		t.Errorf("%d KB are held, %d KB may be", (now-before)>>10, bound>>10)
	}
}

// TestFilesMadeToDoHarm are files whose one value, record or list never ends. Each is refused or
// read, within what harmMax allows.
func TestFilesMadeToDoHarm(t *testing.T) {
	long(t)
	const endless = 2 << 20
	for name, c := range map[string]struct{ head, piece string }{
		"a line without an end":       {"Date,Amount\n2026-01-31,", "1"},
		"a field without an end":      {"Date,Amount,Memo\n2026-01-31,1,\"", "abc\n"},
		"columns without an end":      {"Date,Amount\n2026-01-31,1", ",x"},
		"quotation marks":             {"Date,Amount\n2026-01-31,1,", "\""},
		"an OFX value without an end": {"<OFX><STMTTRN><NAME>", "abc"},
		"an OFX tag without an end":   {"<OFX><STMTTRN><", "abc"},
		"OFX tags of one transaction": {"<OFX><STMTTRN>", "<NAME>abc"},
		"a comment without an end":    {"<OFX><!--", "abc"},
		"a CDATA without an end":      {"<OFX><STMTTRN><NAME><![CDATA[", "abc&"},
		"elements within elements":    {"<Document><BkToCstmrStmt><Stmt>", "<Ntry>"},
		"details without an end": {
			"<Document><BkToCstmrStmt><Stmt><Ntry><NtryDtls>",
			"<TxDtls><Refs><TxId>a</TxId></Refs></TxDtls>"},
		"statements without an end":    {"<Document><BkToCstmrStmt>", "<Stmt></Stmt>"},
		"an attribute without an end":  {"<Document><BkToCstmrStmt><Stmt><Amt Ccy=\"", "abc"},
		"lines of one QIF record":      {"!Type:Bank\nD2026-01-31\nT1\n", "Maaaaaaaaaaaaaaa\n"},
		"splits of one QIF record":     {"!Type:Bank\nD2026-01-31\nT1\n", "Sfood\n$1.00\n"},
		"an address of one QIF record": {"!Type:Bank\nD2026-01-31\nT1\n", "Aaaaaaaaaaaaaaaa\n"},
		"lines of one text of MT940": {
			":20:X\n:25:Y\n:28C:1\n:60F:C260101EUR1,\n:61:260103C1,NTRFX\n:86:", "text\n"},
		"messages of MT940":        {"", ":20:X\n:25:Y\n:60F:C260101EUR1,\n-\n"},
		"zeros":                    {"", "\x00"},
		"blank lines":              {"Date,Amount\n2026-01-31,1", "\n"},
		"lines that go on":         {"Date,Amount,Memo\n2026-01-31,1,x\n", ",,abc\n"},
		"rows that cannot be read": {"Date,Amount\n2026-01-31,1\n", "2026-02-31,1\n"},
		"accounts without an end in CSV": {
			"Date,Amount,Account\n2026-01-31,1,a\n", "2026-01-31,1,%08d\n"},
	} {
		t.Run(name, func(t *testing.T) {
			piece := c.piece
			if len(piece) < 1<<10 && !strings.Contains(piece, "%") {
				piece = strings.Repeat(piece, 1<<10/len(piece))
			}
			s := newSynthetic(c.head, "", 1, func(b []byte, i int64) []byte {
				if strings.Contains(piece, "%") {
					return fmt.Appendf(b, piece, i)
				}
				return append(b, piece...)
			})
			s.count = rounds() * endless / int64(s.width)
			before := held()
			s.watch = func() { checkHeld(t, before, harmMax) }
			file, err := bankfile.Open(s, s.size(), bankfile.Options{
				Mapping: &bankfile.Mapping{Version: 1, JoinLines: true},
			})
			if err == nil {
				_, err = file.Each(func(row bankfile.Row) bool {
					if len(row.Raw) > bankfile.RawMax {
						t.Errorf("%d bytes of raw text", len(row.Raw))
					}
					return true
				})
			}
			checkHeld(t, before, harmMax)
			var format *bankfile.FormatError
			var limit *bankfile.LimitError
			if err != nil && !errors.As(err, &format) && !errors.As(err, &limit) {
				t.Errorf("the error is %T: %v", err, err)
			}
			runtime.KeepAlive(file)
		})
	}
}
