package singletable

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// The format of a NoSQL Workbench data model, as the tool writes it.
type (
	workbenchModel struct {
		ModelName     string
		ModelMetadata workbenchMetadata
		DataModel     []workbenchTable
	}

	workbenchMetadata struct {
		Author           string
		DateCreated      string
		DateLastModified string
		Description      string
		AWSService       string
		Version          string
	}

	workbenchTable struct {
		TableName              string
		KeyAttributes          workbenchKeys
		NonKeyAttributes       []workbenchAttribute
		TableFacets            []workbenchFacet `json:",omitempty"`
		GlobalSecondaryIndexes []workbenchIndex `json:",omitempty"`
		DataAccess             workbenchAccess
		BillingMode            dynamo.BillingMode
	}

	workbenchKeys struct {
		PartitionKey workbenchAttribute
		SortKey      *workbenchAttribute `json:",omitempty"`
	}

	workbenchAttribute struct {
		AttributeName string
		AttributeType string
	}

	workbenchFacet struct {
		FacetName         string
		KeyAttributeAlias workbenchAlias
		TableData         []map[string]any `json:",omitempty"`
		NonKeyAttributes  []string
		DataAccess        workbenchAccess
	}

	workbenchAlias struct {
		PartitionKeyAlias string
		SortKeyAlias      string `json:",omitempty"`
	}

	workbenchIndex struct {
		IndexName     string
		KeyAttributes workbenchKeys
		Projection    workbenchProjection
	}

	workbenchProjection struct {
		ProjectionType   dynamo.ProjectionType
		NonKeyAttributes []string `json:",omitempty"`
	}

	// workbenchAccess is a member that the tool requires but that has no content here.
	workbenchAccess struct{ MySql struct{} }
)

func (m *Model) workbench(at time.Time) workbenchModel {
	// the tool's own format of times
	made := at.UTC().Format("Jan 02, 2006, 03:04 PM")
	model := workbenchModel{
		ModelName: m.name,
		ModelMetadata: workbenchMetadata{
			Author: m.name, DateCreated: made, DateLastModified: made,
			Description: m.patternLines(), AWSService: "Amazon DynamoDB", Version: "3.0",
		},
		DataModel: []workbenchTable{},
	}
	for _, t := range m.tables {
		model.DataModel = append(model.DataModel, t.workbench())
	}
	return model
}

// patternLines lists the patterns, one in each line, because the format has no place for them.
func (m *Model) patternLines() string {
	var b strings.Builder
	for _, p := range m.patterns {
		info := p.Info()
		where := info.Table
		if info.Index != "" {
			where += "." + info.Index
		}
		fmt.Fprintf(&b, "%s: %s %s (%s %s %s)\n", info.Name, info.Description,
			strings.Join(info.Entities, ", "), info.Kind, where, info.Where)
	}
	return b.String()
}

func (t *Table) workbench() workbenchTable {
	out := workbenchTable{
		TableName: t.name, KeyAttributes: t.workbenchKeys(t.keys),
		NonKeyAttributes: t.workbenchAttributes(), BillingMode: dynamo.BillingPayPerRequest,
	}
	for _, c := range t.entities {
		out.TableFacets = append(out.TableFacets, c.workbench())
	}
	for _, x := range t.indexes {
		if x.local {
			continue // not supported by the format
		}
		out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes, workbenchIndex{
			IndexName: x.name, KeyAttributes: t.workbenchKeys(x.keys),
			Projection: workbenchProjection{
				x.projection.ProjectionType, x.projection.NonKeyAttributes,
			},
		})
	}
	return out
}

func (t *Table) workbenchKeys(k KeyNames) workbenchKeys {
	keys := workbenchKeys{PartitionKey: t.workbenchKey(k.Partition)}
	if k.Sort != "" {
		sort := t.workbenchKey(k.Sort)
		keys.SortKey = &sort
	}
	return keys
}

func (t *Table) workbenchKey(attribute string) workbenchAttribute {
	return workbenchAttribute{attribute, t.keyKind(attribute).String()}
}

// workbenchAttributes lists every attribute except the table's key once. The tool refuses a model
// in which one name has two types, so the type of the first entity is used.
func (t *Table) workbenchAttributes() []workbenchAttribute {
	seen := map[string]bool{t.keys.Partition: true, t.keys.Sort: true}
	list := []workbenchAttribute{}
	add := func(name, kind string) {
		if !seen[name] {
			seen[name] = true
			list = append(list, workbenchAttribute{name, kind})
		}
	}
	t.eachKeyAttribute(func(attribute string) {
		add(attribute, t.keyKind(attribute).String())
	})
	for _, c := range t.entities {
		if c.disc != "" {
			add(c.disc, dynamo.KindS.String())
		}
		for i := range c.shape.Fields {
			if f := &c.shape.Fields[i]; !f.Options.KeyOnly {
				add(f.Attr, f.Codec.Kind.String())
			}
		}
	}
	return list
}

func (c *core) workbench() workbenchFacet {
	facet := workbenchFacet{
		FacetName: c.name,
		KeyAttributeAlias: workbenchAlias{
			PartitionKeyAlias: c.base.TemplateOf(0), SortKeyAlias: c.base.TemplateOf(1),
		},
	}
	own := map[string]bool{c.table.keys.Partition: true, c.table.keys.Sort: true, "": true}
	add := func(name string) {
		if !own[name] {
			own[name] = true
			facet.NonKeyAttributes = append(facet.NonKeyAttributes, name)
		}
	}
	add(c.disc)
	for i := range c.shape.Fields {
		if f := &c.shape.Fields[i]; !f.Options.KeyOnly {
			add(f.Attr)
		}
	}
	for _, pl := range c.on {
		add(pl.Keys.Partition)
		add(pl.Keys.Sort)
	}
	slices.Sort(facet.NonKeyAttributes)
	if item := c.sample(); item != nil {
		facet.TableData = []map[string]any{taggedItem(item)}
	}
	return facet
}
