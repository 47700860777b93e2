package dynamotest

import (
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

func tables() []behaviour {
	return []behaviour{
		{"a description is what was asked for", described},
		{"tables are listed in order, page by page", func(k *kit) {
			var all []string
			in := &dynamo.ListTablesInput{Limit: 1}
			for {
				out, err := k.ListTables(k.ctx, in)
				k.must(err)
				if len(out.TableNames) > 1 {
					k.Fatalf("a page has %q", out.TableNames)
				}
				all = append(all, out.TableNames...)
				if in.ExclusiveStartTableName = out.LastEvaluatedTableName; in.
					ExclusiveStartTableName == "" {
					break
				}
			}
			if !slices.Contains(all, k.main) || !slices.Contains(all, k.plain) ||
				!slices.IsSorted(all) {
				k.Errorf("got %q", all)
			}
		}},
		{"a table there already is in use", func(k *kit) {
			_, err := k.CreateTable(k.ctx, mainTable(k.main))
			k.refused(err, dynamo.CodeResourceInUse, "Table already exists: "+k.main)
		}},
		{"an index is added, filled and taken away", indexAdded},
		{"a missing table is not found", func(k *kit) {
			none := k.prefix + "-none"
			_, err := k.DescribeTable(k.ctx, none)
			k.refused(err, dynamo.CodeResourceNotFound,
				"Requested resource not found: Table: "+none+" not found")
			_, err = k.DeleteTable(k.ctx, none)
			k.refused(err, dynamo.CodeResourceNotFound, "")
			_, err = k.Store.Get(k.ctx, &dynamo.GetInput{TableName: none, Key: k.key("a")})
			k.refused(err, dynamo.CodeResourceNotFound, "Requested resource not found")
		}},
		{"definitions that contradict themselves are refused", func(k *kit) {
			for _, change := range []func(*dynamo.CreateTableInput){
				func(in *dynamo.CreateTableInput) { in.KeySchema = nil },
				func(in *dynamo.CreateTableInput) { in.AttributeDefinitions = nil },
				func(in *dynamo.CreateTableInput) { in.TableName += "/x" },
				func(in *dynamo.CreateTableInput) {
					in.AttributeDefinitions = append(in.AttributeDefinitions,
						dynamo.AttributeDefinition{
							AttributeName: "unused", AttributeType: dynamo.KindS,
						})
				},
				func(in *dynamo.CreateTableInput) {
					in.GlobalSecondaryIndexes[1].IndexName = in.GlobalSecondaryIndexes[0].IndexName
				},
			} {
				in := mainTable(k.prefix + "-wrong")
				change(in)
				_, err := k.CreateTable(k.ctx, in)
				k.refused(err, dynamo.CodeValidation, "")
			}
		}},
	}
}

func described(k *kit) {
	d, err := k.DescribeTable(k.ctx, k.main)
	k.must(err)
	want := mainTable(k.main)
	if d.TableName != k.main || d.TableStatus != dynamo.StatusActive || d.TableArn == "" ||
		d.BillingMode != dynamo.BillingPayPerRequest ||
		time.Since(d.CreationDateTime).Abs() > time.Hour {
		k.Errorf("got %+v", d)
	}
	if !slices.Equal(d.KeySchema, want.KeySchema) {
		k.Errorf("the key is %v", d.KeySchema)
	}
	if len(d.AttributeDefinitions) != len(want.AttributeDefinitions) {
		k.Errorf("the attributes are %v", d.AttributeDefinitions)
	}
	for _, a := range want.AttributeDefinitions {
		if !slices.Contains(d.AttributeDefinitions, a) {
			k.Errorf("attribute %v is missing in %v", a, d.AttributeDefinitions)
		}
	}
	if len(d.LocalSecondaryIndexes) != 1 || d.LocalSecondaryIndexes[0].IndexName != indexLocal ||
		!slices.Equal(d.LocalSecondaryIndexes[0].KeySchema,
			want.LocalSecondaryIndexes[0].KeySchema) {
		k.Errorf("the local indexes are %v", d.LocalSecondaryIndexes)
	}
	if len(d.GlobalSecondaryIndexes) != len(want.GlobalSecondaryIndexes) {
		k.Errorf("the global indexes are %v", d.GlobalSecondaryIndexes)
	}
	for _, x := range want.GlobalSecondaryIndexes {
		at := slices.IndexFunc(d.GlobalSecondaryIndexes,
			func(got dynamo.GlobalSecondaryIndexDescription) bool {
				return got.IndexName == x.IndexName
			})
		if at < 0 {
			k.Errorf("index %s is missing", x.IndexName)
			continue
		}
		got := d.GlobalSecondaryIndexes[at]
		if got.IndexStatus != dynamo.StatusActive || !slices.Equal(got.KeySchema, x.KeySchema) ||
			got.Projection.ProjectionType != x.Projection.ProjectionType ||
			!slices.Equal(got.Projection.NonKeyAttributes, x.Projection.NonKeyAttributes) {
			k.Errorf("got the index %+v", got)
		}
	}
}

func indexAdded(k *kit) {
	name := k.prefix + "-growing"
	createTable(k.T, k.Store, &dynamo.CreateTableInput{
		TableName: name, KeySchema: dynamo.HashKey("id"),
		BillingMode: dynamo.BillingPayPerRequest,
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "id", AttributeType: dynamo.KindS},
		},
	})
	for _, it := range []dynamo.Item{
		{"id": str("in"), "g": str("x")}, {"id": str("wrong type"), "g": num("1")},
		{"id": str("out")},
	} {
		_, err := k.Store.Put(k.ctx, &dynamo.PutInput{TableName: name, Item: it})
		k.must(err)
	}
	_, err := k.UpdateTable(k.ctx, &dynamo.UpdateTableInput{
		TableName: name,
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "id", AttributeType: dynamo.KindS},
			{AttributeName: "g", AttributeType: dynamo.KindS},
		},
		GlobalSecondaryIndexUpdates: []dynamo.GlobalSecondaryIndexUpdate{{
			Create: &dynamo.GlobalSecondaryIndex{
				IndexName: "late", KeySchema: dynamo.HashKey("g"),
				Projection: dynamo.Projection{ProjectionType: dynamo.ProjectAll},
			},
		}},
	})
	k.must(err)
	awaitActive(k.T, k.Store, name)
	in := k.inGroup("late")
	in.TableName, in.ExpressionAttributeValues = name, vals{":g": str("x")}
	k.same(k.eventually(in, 1)[0], dynamo.Item{"id": str("in"), "g": str("x")})
	_, err = k.UpdateTable(k.ctx, &dynamo.UpdateTableInput{
		TableName: name,
		GlobalSecondaryIndexUpdates: []dynamo.GlobalSecondaryIndexUpdate{
			{Delete: "late"},
		},
	})
	k.must(err)
	gone := await(k.ctx, func() bool {
		d, err := k.DescribeTable(k.ctx, name)
		k.must(err)
		return len(d.GlobalSecondaryIndexes) == 0
	})
	if !gone {
		k.Error("the index is still there")
	}
}

func expiry() []behaviour {
	return []behaviour{
		{"expiry is off, turned on, and described", func(k *kit) {
			name := k.prefix + "-expiring"
			createTable(k.T, k.Store, &dynamo.CreateTableInput{
				TableName: name, KeySchema: dynamo.HashKey("id"),
				BillingMode: dynamo.BillingPayPerRequest,
				AttributeDefinitions: []dynamo.AttributeDefinition{
					{AttributeName: "id", AttributeType: dynamo.KindS},
				},
			})
			before, err := k.DescribeTimeToLive(k.ctx, name)
			k.must(err)
			if before.TimeToLiveStatus != dynamo.TimeToLiveDisabled || before.AttributeName != "" {
				k.Errorf("before: %+v", before)
			}
			k.must(k.UpdateTimeToLive(k.ctx, &dynamo.UpdateTimeToLiveInput{
				TableName: name, AttributeName: "ends", Enabled: true,
			}))
			on := await(k.ctx, func() bool {
				after, err := k.DescribeTimeToLive(k.ctx, name)
				k.must(err)
				return after.AttributeName == "ends" &&
					(after.TimeToLiveStatus == dynamo.TimeToLiveEnabled ||
						after.TimeToLiveStatus == dynamo.TimeToLiveEnabling)
			})
			if !on {
				k.Error("expiry is not turned on")
			}
		}},
		{"expiry of a missing table is not found", func(k *kit) {
			_, err := k.DescribeTimeToLive(k.ctx, k.prefix+"-none")
			k.refused(err, dynamo.CodeResourceNotFound, "")
		}},
	}
}
