package bankfile_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// utf16of writes a text as UTF-16.
func utf16of(text string, order binary.AppendByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

// in1250 and in1252 write the letters of the tests in single bytes.
var (
	in1250 = strings.NewReplacer("Ż", "\xaf", "ł", "\xb3", "ó", "\xf3", "ą", "\xb9", "ę", "\xea",
		"ć", "\xe6", "ś", "\x9c", "č", "\xe8", "ř", "\xf8", "š", "\x9a", "ů", "\xf9", "Č", "\xc8",
		"á", "\xe1", "í", "\xed", "ž", "\x9e", "ý", "\xfd", "€", "\x80", "ő", "\xf5", "ü",
		"\xfc", "é", "\xe9")
	in1252 = strings.NewReplacer("é", "\xe9", "ü", "\xfc", "ß", "\xdf", "€", "\x80", "ä", "\xe4",
		"ö", "\xf6", "è", "\xe8", "ê", "\xea", "ç", "\xe7", "ñ", "\xf1", "’", "\x92", "à", "\xe0")
)

func TestEncodings(t *testing.T) {
	table := "Date,Description,Amount\n2026-01-31,%s,-5.00\n"
	german := strings.Replace(table, "%s", "Grüße für 5 €", 1)
	polish := strings.Replace("Data operacji,Opis,Kwota\n2026-01-31,%s,-5.00\n", "%s",
		"Żabka płatność kartą", 1)
	czech := strings.Replace("Datum zaúčtování,Název protiúčtu,Částka\n2026-01-31,%s,-5.00\n",
		"%s", "Příkaz Česká pošta", 1)
	czechBytes := strings.NewReplacer("ú", "\xfa", "č", "\xe8", "á", "\xe1", "í", "\xed", "Č",
		"\xc8", "š", "\x9a",
		"ř", "\xf8", "ě", "\xec", "ť", "\x9d", "á", "\xe1").Replace(czech)
	for name, c := range map[string]struct {
		text string
		want bankfile.Encoding
		memo string
	}{
		"UTF-8":             {german, bankfile.UTF8, "Grüße für 5 €"},
		"UTF-8 with a mark": {"\ufeff" + german, bankfile.UTF8, "Grüße für 5 €"},
		"UTF-8, mark and quoted field": {"\ufeff\"Date\",\"Description\",\"Amount\"\n" +
			strings.SplitN(german, "\n", 2)[1], bankfile.UTF8, "Grüße für 5 €"},
		"UTF-16 little with a mark": {utf16of("\ufeff"+german, binary.LittleEndian),
			bankfile.UTF16LE, "Grüße für 5 €"},
		"UTF-16 big with a mark": {utf16of("\ufeff"+german, binary.BigEndian),
			bankfile.UTF16BE, "Grüße für 5 €"},
		"UTF-16 little without": {utf16of(german, binary.LittleEndian), bankfile.UTF16LE,
			"Grüße für 5 €"},
		"UTF-16 big without": {utf16of(german, binary.BigEndian), bankfile.UTF16BE,
			"Grüße für 5 €"},
		"Windows-1252": {in1252.Replace(german), bankfile.Windows1252,
			"Grüße für 5 €"},
		"Windows-1250, Polish": {in1250.Replace(polish), bankfile.Windows1250,
			"Żabka płatność kartą"},
		"Windows-1250, Czech": {czechBytes, bankfile.Windows1250, "Příkaz Česká pošta"},
		"beyond the basic plane": {utf16of("\ufeff"+strings.Replace(german, "5 €", "😀",
			1), binary.LittleEndian), bankfile.UTF16LE, "Grüße für 😀"},
		"ASCII alone": {strings.Replace(table, "%s", "Milk", 1), bankfile.UTF8,
			"Milk"},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, c.text)
			e := r.entries()
			if r.file.Encoding != c.want || len(e) != 1 {
				t.Fatalf("%s, %q", r.file.Encoding, r.brief())
			}
			if got := strings.TrimSpace(e[0].Name + e[0].Memo); got != c.memo {
				t.Errorf("got %q, want %q", got, c.memo)
			}
		})
	}
}

// TestEachFileHasItsOwnEncoding is firefly#11470: a mapping that remembers one encoding does not
// spoil a file in another.
func TestEachFileHasItsOwnEncoding(t *testing.T) {
	text := "Date,Description,Amount\n2026-01-31,Grüße,-5.00\n"
	m := bankfile.Mapping{Version: bankfile.MappingVersion, Encoding: bankfile.Windows1252}
	for _, written := range []string{text, in1252.Replace(text), utf16of(text,
		binary.LittleEndian)} {
		r, err := read(written, bankfile.Options{Mapping: &m})
		if err != nil || len(r.entries()) != 1 || r.entries()[0].Memo != "Grüße" {
			t.Errorf("%v, %v", r.brief(), err)
		}
	}
}

// TestADoubtfulEncodingIsShownAndChosen reads letters that mean something in both code pages.
func TestADoubtfulEncodingIsShownAndChosen(t *testing.T) {
	text := "Date,Description,Amount\n2026-01-31,5 \xb3 la carte,-5.00\n"
	r := mustRead(t, text)
	if r.file.EncodingSure || !strings.Contains(r.file.EncodingSample, "la carte") {
		t.Errorf("sure %v, sample %q", r.file.EncodingSure, r.file.EncodingSample)
	}
	byte80 := "Date,Description,Amount\n2026-01-31,\xb3,-5.00\n"
	for encoding, want := range map[bankfile.Encoding]string{
		bankfile.Windows1250: "ł", bankfile.Windows1252: "³",
	} {
		m := bankfile.Mapping{Version: bankfile.MappingVersion, Encoding: encoding}
		r, err := read(byte80, bankfile.Options{Mapping: &m})
		if err != nil || r.entries()[0].Memo != want {
			t.Errorf("%s: %+v, %v", encoding, r.entries(), err)
		}
	}
}

// A letter far behind the beginning tells as much as one in the first line.
func TestTheFirstLetterMayStandFarBehind(t *testing.T) {
	long := strings.Repeat("2026-01-30,Milk,-5.00\n", 10_000)
	for letters, c := range map[string]struct {
		encoding bankfile.Encoding
		sure     bool
		memo     string
	}{
		"\xafabka p\xb3atno\x9c\xe6 kart\xb9": {bankfile.Windows1250, true, "Żabka płatność kartą"},
		"Gr\xfc\xdfe f\xfcr \x80":             {bankfile.Windows1252, true, "Grüße für €"},
		"5 \xb3 la carte":                     {bankfile.Windows1252, false, "5 ³ la carte"},
		"Gr\u00fc\u00dfe":                     {bankfile.UTF8, true, "Grüße"},
	} {
		r := mustRead(t, "Date,Description,Amount\n"+long+"2026-01-31,"+letters+",-5.00\n"+long)
		f, e := r.file, r.entries()
		if f.Encoding != c.encoding || f.EncodingSure != c.sure ||
			f.EncodingSure != (f.EncodingSample == "") || e[len(e)/2].Memo != c.memo {
			t.Errorf("%s, sure %v, sample %q, memo %q", f.Encoding, f.EncodingSure,
				f.EncodingSample, e[len(e)/2].Memo)
		}
	}
}

func TestNamesOfEncodings(t *testing.T) {
	for name, want := range map[string]bankfile.Encoding{
		"ISO-8859-1": bankfile.Windows1252, "latin1": bankfile.Windows1252,
		"1252":         bankfile.Windows1252,
		"windows-1250": bankfile.Windows1250, "CP1250": bankfile.Windows1250,
		"UTF-8": bankfile.UTF8,
		"utf8":  bankfile.UTF8, "USASCII": bankfile.Windows1252, "UTF-16BE": bankfile.UTF16BE,
	} {
		if got, ok := bankfile.ParseEncoding(name); !ok || got != want {
			t.Errorf("%s is %s, %v", name, got, ok)
		}
	}
	if _, ok := bankfile.ParseEncoding("EBCDIC"); ok {
		t.Error("EBCDIC is read")
	}
}

// TestLineEnds reads one file with each kind of line end; a stray CR never sticks to a value.
func TestLineEnds(t *testing.T) {
	for name, text := range map[string]string{
		"CSV": "Date,Amount,Currency\n2026-01-30,-5.00,EUR\n2026-01-31,7.00,EUR\n",
		"QIF": "!Type:Bank\nD2026-01-30\nT-5.00\nPShop\n^\nD2026-01-31\nT7.00\nPShop\n^\n",
	} {
		for end, mark := range map[string]string{"LF": "\n", "CR": "\r", "CR LF": "\r\n",
			"CR CR LF": "\r\r\n"} {
			t.Run(name+" "+end, func(t *testing.T) {
				r := mustRead(t, strings.ReplaceAll(text, "\n", mark))
				e := r.entries()
				if len(e) != 2 || e[0].Amount.String() != "-5" || e[1].Date != "2026-01-31" {
					t.Fatalf("got %q", r.brief())
				}
				wantLine := 3
				if name == "QIF" {
					wantLine = 6
				}
				if r.rows[1].Line != wantLine {
					t.Errorf("line %d, want %d", r.rows[1].Line, wantLine)
				}
				if name == "CSV" && e[1].Currency != "EUR" || strings.Contains(e[0].Name, "\r") {
					t.Errorf("got %+v", e[1])
				}
			})
		}
		t.Run(name+" without a last one", func(t *testing.T) {
			if r := mustRead(t, strings.TrimSuffix(text, "\n")); len(r.entries()) != 2 {
				t.Errorf("got %q", r.brief())
			}
		})
	}
}

// Files of other alphabets are read by the names of their columns, or asked about; answers count.
func TestOtherAlphabets(t *testing.T) {
	for name, c := range map[string]struct {
		page bankfile.Encoding
		of   encoding.Encoding
		text string
		want string
	}{
		"Russian": {"windows-1251", charmap.Windows1251,
			"Дата,Назначение,Сумма\n2026-01-02,Кофейня,-4.50\n2026-01-03,Книги,-12.00\n",
			"2026-01-02 -4.5 |  | Кофейня"},
		"Russian in KOI8": {"koi8-r", charmap.KOI8R,
			"Дата,Назначение,Сумма\n2026-01-02,Кофейня,-4.50\n2026-01-03,Книги,-12.00\n",
			"2026-01-02 -4.5 |  | Кофейня"},
		"Greek": {"windows-1253", charmap.Windows1253,
			"Ημερομηνία;Αιτιολογία;Ποσό\n02.01.2026;Καφενείο;-4,50\n03.01.2026;Βιβλία;-12,00\n",
			"2026-01-02 -4.5 |  | Καφενείο"},
		"Japanese": {"shift-jis", japanese.ShiftJIS,
			"日付,摘要,金額\n2026-01-02,喫茶店,-450\n2026-01-03,書店,-1200\n",
			"2026-01-02 -450 |  | 喫茶店"},
		"unknown names": {"windows-1251", charmap.Windows1251,
			"Ааа,Бббб,Вввв\n2026-01-02,Кофейня,-4.50\n2026-01-03,Книги,-12.00\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := c.of.NewEncoder().String(c.text)
			if err != nil {
				t.Fatal(err)
			}
			r, err := read(text, bankfile.Options{})
			if c.want == "" {
				if ask := asked(err); len(ask) != 1 || ask[0] != bankfile.AskEncoding {
					t.Fatalf("%v, %v", ask, err)
				}
				m := bankfile.Mapping{Version: bankfile.MappingVersion}
				if err := m.Answer(bankfile.AskEncoding, string(c.page)); err != nil {
					t.Fatal(err)
				}
				r, err = read(text, bankfile.Options{Mapping: &m})
				c.want = "2026-01-02 -4.5 |  | Кофейня"
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := told(r.rows[0]); got != c.want || r.file.Encoding != c.page {
				t.Errorf("%s: %q, want %q", r.file.Encoding, got, c.want)
			}
		})
	}
}
