package reading

// flagOf returns the column with the direction of a column of amounts, or -1.
func (t *Table) flagOf(amount int) int {
	best, bestPoints := -1, 0
	for i := range t.cols {
		if i == amount {
			continue
		}
		if role, ok := t.Fixed[i]; ok {
			if role == Flag {
				return i
			}
			continue
		}
		if points := t.weighFlag(amount, i); points > bestPoints {
			best, bestPoints = i, points
		}
	}
	return best
}

// weighFlag returns how likely it is that a column has directions; 0 means that it has none.
func (t *Table) weighFlag(amount, i int) int {
	c, a := &t.cols[i], &t.cols[amount]
	named := Rank(Flag, c.name) >= 0
	if c.filled == 0 || c.flags*2 < c.filled || c.numbers*2 > c.filled && c.flags != c.filled {
		if named && c.filled == 0 && len(t.Rows) == 0 {
			return 100
		}
		return 0
	}
	if named {
		return 100
	}
	if c.flags != c.filled {
		return 0
	}
	agree, against := t.flagSigns(amount, i)
	switch {
	case c.out > 0 && c.in > 0 && c.filled*10 >= len(t.Rows)*9:
		switch {
		case a.negative == 0:
			return 80
		case agree == 0 && against > 1:
			return 70
		case against == 0 && !t.isText(i) && !t.isCategory(i):
			return 20
		}
	case t.isText(i) || a.negative > 0:
		return 0
	case c.filled < len(t.Rows):
		// The rows without the word have the other direction.
		if t.longFlags(i) || t.Header == nil {
			return 60
		}
	case t.longFlags(i):
		return 50
	}
	return 0
}

func (t *Table) isText(i int) bool {
	return Rank(Memo, t.name(i)) >= 0 || Rank(Name, t.name(i)) >= 0
}

func (t *Table) isCategory(i int) bool { return Rank(Category, t.name(i)) >= 0 }

// longFlags reports whether the words of a column have more than one letter.
func (t *Table) longFlags(i int) bool {
	for word := range t.cols[i].distinct {
		if len(word) < 2 {
			return false
		}
	}
	return true
}

// flagSigns counts the rows in which the written sign agrees with the word, and those in which it
// does not.
func (t *Table) flagSigns(amount, flag int) (agree, against int) {
	for r := range t.Rows {
		cell := t.cell(r, amount)
		d := t.Direction(t.cell(r, flag).Text)
		if !cell.Number || d == 0 || cell.Value.Sign() == 0 {
			continue
		}
		if cell.Negative == (d < 0) {
			agree++
		} else {
			against++
		}
	}
	return agree, against
}

// Habit is the meaning of an amount's sign if a word gives the direction.
type Habit int

// The habits of banks.
const (
	Decides Habit = iota // The word gives the sign of the amount; a minus is a refund.
	Repeats              // The word repeats the sign of the amount.
	Words                // The sign is that of a card, where purchases are positive.
)

// HabitOf returns the habit of a bank, from the number of positive and negative amounts with words
// for out and in.
func HabitOf(outPos, outNeg, inPos, inNeg int) Habit {
	switch {
	case outNeg > 0 && outPos == 0 && (inPos > 0 || inNeg == 0):
		return Repeats
	case inNeg > 0 && inPos == 0:
		return Words
	}
	return Decides
}

// habit returns the habit for a column of amounts and one of words.
func (t *Table) habit(amount, flag int) Habit {
	var outPos, outNeg, inPos, inNeg int
	for r := range t.Rows {
		cell := t.cell(r, amount)
		d := t.Direction(t.cell(r, flag).Text)
		switch {
		case !cell.Number || cell.Value.Sign() == 0 || d == 0:
		case d < 0 && cell.Negative:
			outNeg++
		case d < 0:
			outPos++
		case cell.Negative:
			inNeg++
		default:
			inPos++
		}
	}
	return HabitOf(outPos, outNeg, inPos, inNeg)
}

// restDirection returns the direction of rows without a word, if all words mean the other one.
func (t *Table) restDirection(flag int) int {
	switch c := &t.cols[flag]; {
	case c.in > 0 && c.out == 0:
		return -1
	case c.out > 0 && c.in == 0:
		return 1
	}
	return 0
}

// sides returns 1 if some amounts have a word such as CR, none has one such as DR or a minus, and
// others have neither: those are money out.
func (t *Table) sides(amount int) int {
	in, plain := 0, 0
	for r := range t.Rows {
		switch cell := t.cell(r, amount); {
		case !cell.Number:
		case cell.Side < 0 || cell.Negative:
			return 0
		case cell.Side > 0:
			in++
		default:
			plain++
		}
	}
	return one(in > 0 && plain > 0)
}

// twoWords returns the two unknown words of a column that may mean the direction. Each is in
// several rows. They are in the order of the rows.
func (t *Table) twoWords(i int) (first, second string, ok bool) {
	c := &t.cols[i]
	if len(c.distinct) != 2 || c.filled != len(t.Rows) || c.filled < 3 || c.dates > 0 ||
		c.numbers > 0 || c.currencies == c.filled || c.accounts > 0 {
		return "", "", false
	}
	for r := range t.Rows {
		word := t.cell(r, i).Text
		if len(word) > 24 {
			return "", "", false
		}
		switch {
		case first == "" || word == first:
			first = word
		default:
			second = word
		}
	}
	return first, second, true
}

// learnFlag finds a column of two unknown words that, as directions of the amounts, explain the
// balances, and returns its points.
func (t *Table) learnFlag(m *Money, balances []int) int {
	if t.cols[m.Amount].negative > 0 {
		return 0
	}
	for i := range t.cols {
		if _, fixed := t.Fixed[i]; fixed || i == m.Amount {
			continue
		}
		first, second, ok := t.twoWords(i)
		if !ok {
			continue
		}
		for _, out := range []string{first, second} {
			values := make([]value, len(m.values))
			for r, v := range m.values {
				if t.cell(r, i).Text == out {
					v.n = v.n.Neg()
				}
				values[r] = v
			}
			for _, b := range balances {
				if b == m.Amount || b == i {
					continue
				}
				if points, inverted, _ := t.proof(values, b); points > 0 && !inverted {
					m.Flag, m.Balance, m.Proven, m.values = i, b, true, values
					m.Out, m.In = out, first
					if out == first {
						m.In = second
					}
					return points
				}
			}
		}
	}
	return 0
}
