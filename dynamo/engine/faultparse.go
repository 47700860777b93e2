package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// strictWord is the text for the rules of Strict.
const strictWord = "strict"

// ParseFaults parses rules from flags and configuration files. Each rule is its kind, followed by
// options that are separated by commas. Semicolons separate several rules in one text:
//
//	throttle,table=Orders,op=PutItem,rate=0.1
//	index-lag,index=byStatus,delay=50ms..200ms; conflict,every=7
//	strict; seed=42
//
// The word strict adds the rules of [Strict], and seed=N sets the seed of all rules. The options
// are table, index, op, rate, every, times, code, reason, delay, held, items and all. The options
// held and all have no value.
func ParseFaults(texts ...string) (Faults, error) {
	var f Faults
	for _, text := range texts {
		for rule := range strings.SplitSeq(text, ";") {
			if rule = strings.TrimSpace(rule); rule == "" {
				continue
			}
			if err := f.parse(rule); err != nil {
				return Faults{}, err
			}
		}
	}
	return f, nil
}

// parse parses one fault of the option: "strict", "seed=N", or a kind with its options.
func (f *Faults) parse(text string) error {
	first, rest, more := strings.Cut(text, ",")
	if first = strings.TrimSpace(first); first == strictWord && !more {
		f.Rules = append(f.Rules, Strict().Rules...)
		return nil
	}
	if seed, ok := strings.CutPrefix(first, "seed="); ok && !more {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			return fmt.Errorf("fault %q: a seed is a whole number", text)
		}
		f.Seed = n
		return nil
	}
	rule := Fault{Kind: FaultKind(first)}
	if !slices.Contains(FaultKinds(), rule.Kind) {
		return fmt.Errorf("unknown fault %q; use one of strict, seed=N, %s", first,
			listed(FaultKinds()))
	}
	if more {
		for part := range strings.SplitSeq(rest, ",") {
			if err := rule.parse(strings.TrimSpace(part)); err != nil {
				return fmt.Errorf("fault %q: %w", text, err)
			}
		}
	}
	if err := rule.check(); err != nil {
		return err
	}
	f.Rules = append(f.Rules, rule)
	return nil
}

// faultNames returns the names of a rule's options, in the order in which String writes them.
func faultNames() []string {
	return []string{"table", "index", "op", "rate", "every", "times", "code", "reason", "delay",
		"held", "items", "all"}
}

// parse parses one option of a fault: a word, or NAME=VALUE.
func (f *Fault) parse(part string) (err error) {
	name, value, given := strings.Cut(part, "=")
	if !slices.Contains(faultNames(), name) {
		return fmt.Errorf("unknown option %q; use one of %s", name, listed(faultNames()))
	}
	word := name == "held" || name == "all"
	if word == given || given && value == "" {
		if word {
			return fmt.Errorf("%s has no value", name)
		}
		return fmt.Errorf("%s needs a value: %s=VALUE", name, name)
	}
	switch name {
	case "table":
		f.Table = value
	case "index":
		f.Index = value
	case "op":
		f.Operation = value
	case "rate":
		if f.Rate, err = strconv.ParseFloat(value, 64); err != nil || f.Rate == 0 {
			return errors.New("a rate is a number above 0 and up to 1, such as 0.1")
		}
	case "every":
		f.Every, err = wholeNumber(value)
	case "times":
		f.Times, err = wholeNumber(value)
	case "code":
		f.Code = dynamo.ErrorCode(value)
	case "reason":
		f.Reason = value
	case "delay":
		f.Delay, f.DelayMax, err = delays(value)
	case "held":
		f.Held = true
	case "items":
		f.Items, err = wholeNumber(value)
	case "all":
		f.All = true
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func wholeNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not a whole number above 0", text)
	}
	return n, nil
}

// delays parses a duration, or two that are separated by dots.
func delays(text string) (least, most time.Duration, err error) {
	low, high, ranged := strings.Cut(text, "..")
	if least, err = time.ParseDuration(low); err == nil && ranged {
		most, err = time.ParseDuration(high)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%q is not a time such as 20ms, or a range such as 10ms..50ms",
			text)
	}
	return least, most, nil
}

// String returns the rule in the form that [ParseFaults] accepts.
func (f Fault) String() string {
	text := string(f.Kind)
	add := func(name, value string, set bool) {
		if set {
			text += "," + name + "=" + value
		}
	}
	add("table", f.Table, f.Table != "")
	add("index", f.Index, f.Index != "")
	add("op", f.Operation, f.Operation != "")
	add("rate", strconv.FormatFloat(f.Rate, 'g', -1, 64), f.Rate != 0)
	add("every", strconv.Itoa(f.Every), f.Every != 0)
	add("times", strconv.Itoa(f.Times), f.Times != 0)
	add("code", string(f.Code), f.Code != "")
	add("reason", f.Reason, f.Reason != "")
	delay := f.Delay.String()
	if f.DelayMax != 0 {
		delay += ".." + f.DelayMax.String()
	}
	add("delay", delay, f.Delay != 0 || f.DelayMax != 0)
	if f.Held {
		text += ",held"
	}
	add("items", strconv.Itoa(f.Items), f.Items != 0)
	if f.All {
		text += ",all"
	}
	return text
}
