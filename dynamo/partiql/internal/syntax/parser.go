package syntax

import (
	"strings"
	"sync"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// textMax is the maximum length of a statement in bytes ("ExecuteStatement" in the API reference).
const textMax = 8192

// rememberedBytesMax is the maximum size of the texts in the cache of a Parser. A syntax tree takes
// some thirty times the memory of its text.
const rememberedBytesMax = 1 << 20

// Parser parses statements and caches the valid ones, within limits. The zero Parser is ready to
// use. It is safe for concurrent use.
type Parser struct {
	mu sync.RWMutex
	// recent are the statements that were parsed or used last, and earlier are the previous ones.
	// If recent is full, it replaces earlier, whose statements are dropped.
	recent, earlier map[string]*Statement
	bytes           int // size of the texts in recent
}

// Parse parses a statement. The error is a *dynamo.Error.
func (p *Parser) Parse(text string) (*Statement, error) {
	if refusal := checkLength(text); refusal != "" {
		return nil, dynamo.Invalid(refusal)
	}
	p.mu.RLock()
	found := p.recent[text]
	p.mu.RUnlock()
	if found != nil {
		return found, nil
	}
	return p.slow(text)
}

// slow finds a statement among the earlier ones, or parses it.
func (p *Parser) slow(text string) (*Statement, error) {
	p.mu.RLock()
	st := p.earlier[text]
	p.mu.RUnlock()
	text = strings.Clone(text) // it may be part of a larger buffer or of one that will change
	if st == nil {
		var err error
		if st, err = parse(text, depthMax); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.recent == nil || p.bytes+len(text) > rememberedBytesMax/2 {
		p.recent, p.earlier, p.bytes = map[string]*Statement{}, p.recent, 0
	}
	if p.recent[text] == nil {
		p.bytes += len(text)
	}
	p.recent[text] = st
	return st, nil
}

func checkLength(text string) string {
	const constraint = "1 validation error detected: Value '%' at 'statement' failed to " +
		"satisfy constraint: Member must have length "
	switch {
	case text == "":
		return strings.Replace(constraint, "%", "", 1) + "greater than or equal to 1"
	case len(text) > textMax:
		shown := strings.ToValidUTF8(text[:textMax], "") + "..."
		return strings.Replace(constraint, "%", shown, 1) + "less than or equal to 8192"
	}
	return ""
}
