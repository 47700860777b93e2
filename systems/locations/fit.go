package locations

import (
	"context"
	"slices"

	"github.com/exchequer-dev/exchequer/singletable"
)

// optionalIndex is an index that a table may have or lack.
type optionalIndex struct {
	name, setting   string // in the table, and in Missing
	partition, sort string
	wanted          func(*Options) *bool
}

// optionalIndexes returns the optional indexes.
func optionalIndexes() []optionalIndex {
	return []optionalIndex{
		{indexCreated, "created", kindAttribute, "createdAt",
			func(o *Options) *bool { return &o.CreatedIndex }},
		{indexCode, "code", "GSI2PK", "GSI2SK", func(o *Options) *bool { return &o.CodeIndex }},
		{indexName, "name", "GSI3PK", "GSI3SK", func(o *Options) *bool { return &o.NameIndex }},
		{indexCell, "cell", "GSI4PK", "GSI4SK", func(o *Options) *bool { return &o.CellIndex }},
	}
}

// is reports whether an index of a table is this one.
func (x optionalIndex) is(stored singletable.StoredIndex) bool {
	return stored == singletable.StoredIndex{Name: x.name, Partition: x.partition, Sort: x.sort,
		Projection: "ALL"}
}

// Fit returns the options with the optional indexes of a table that exists, because the table
// decides: a location that is written without the key attributes of an index would be missing in
// it. The names of the indexes that were wanted and that the table lacks are returned too; they can
// be added, see Indexed. A table that does not exist is created with the indexes that are wanted.
func (o Options) Fit(
	ctx context.Context, admin singletable.Admin,
) (fitted Options, missing []string, err error) {
	whole, err := o.withDefaults()
	if err != nil {
		return o, nil, err
	}
	stored, exists, err := singletable.StoredIndexes(ctx, admin, whole.TableName)
	if err != nil || !exists {
		return o, nil, err
	}
	fitted = o
	for _, x := range optionalIndexes() {
		has := slices.ContainsFunc(stored, x.is)
		if wanted := x.wanted(&fitted); *wanted && !has {
			missing = append(missing, x.setting)
		}
		*x.wanted(&fitted) = has
	}
	return fitted, missing, nil
}

// Indexed returns the options with every index that one of the two has.
func (o Options) Indexed(also Options) Options {
	for _, x := range optionalIndexes() {
		*x.wanted(&o) = *x.wanted(&o) || *x.wanted(&also)
	}
	return o
}
