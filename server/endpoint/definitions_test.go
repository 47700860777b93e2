package endpoint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/server/endpoint"
	"github.com/exchequer-dev/exchequer/singletable"
)

const keyOnly = `"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"}],` +
	`"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"}]`

func read(t *testing.T, text string, params endpoint.Parameters) ([]endpoint.Definition, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tables")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return endpoint.ReadDefinitions(path, params)
}

func TestDefinitionsAreReadFromEveryForm(t *testing.T) {
	for _, c := range []struct {
		name, text string
		params     endpoint.Parameters
		create     string
		expiry     string
	}{
		{
			name: "the input of CreateTable", text: `{"TableName":"Orders",` + keyOnly +
				`,"BillingMode":"PAY_PER_REQUEST"}`,
			create: `{"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"}],` +
				`"BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"PK",` +
				`"KeyType":"HASH"}],"TableName":"Orders"}`,
		},
		{
			name: "the answer of DescribeTable", text: `{"Table":{"TableName":"Orders",` + keyOnly +
				`,"TableStatus":"ACTIVE","ItemCount":3,"BillingModeSummary":` +
				`{"BillingMode":"PAY_PER_REQUEST"},"ProvisionedThroughput":` +
				`{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0}}}`,
			create: `{"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"}],` +
				`"BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"PK",` +
				`"KeyType":"HASH"}],"TableName":"Orders"}`,
		},
		{
			name: "a template in YAML, with functions", text: `
Parameters:
  Stage: {Type: String, Default: dev}
Resources:
  Queue: {Type: AWS::SQS::Queue}
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "${AWS::StackName}-orders-${Stage}"
      AttributeDefinitions: [{AttributeName: PK, AttributeType: S}]
      KeySchema: [{AttributeName: PK, KeyType: HASH}]
      ProvisionedThroughput: {ReadCapacityUnits: "5", WriteCapacityUnits: 6}
      StreamSpecification: {StreamViewType: NEW_IMAGE}
      TimeToLiveSpecification: {AttributeName: ttl, Enabled: true}
      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}
`,
			params: endpoint.Parameters{"Stage": "test"},
			create: `{"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"}],` +
				`"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"}],"ProvisionedThroughput":` +
				`{"ReadCapacityUnits":5,"WriteCapacityUnits":6},"StreamSpecification":` +
				`{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},` +
				`"TableName":"local-orders-test"}`,
			expiry: `{"TableName":"local-orders-test","TimeToLiveSpecification":` +
				`{"AttributeName":"ttl","Enabled":true}}`,
		},
		{
			name: "a SAM table", text: `{"Resources":{"Things":{"Type":"AWS::Serverless::SimpleTable"}}}`,
			create: `{"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],` +
				`"BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"id",` +
				`"KeyType":"HASH"}],"TableName":"Things"}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read(t, c.text, c.params)
			if err != nil || len(got) != 1 {
				t.Fatalf("%d tables, %v", len(got), err)
			}
			if diff := cmp.Diff(c.create, string(got[0].Create)); diff != "" {
				t.Errorf("CreateTable (-want):\n%s", diff)
			}
			if diff := cmp.Diff(c.expiry, string(got[0].TimeToLive)); diff != "" {
				t.Errorf("UpdateTimeToLive (-want):\n%s", diff)
			}
		})
	}
}

func TestBadDefinitionsSayWhatToDo(t *testing.T) {
	for text, want := range map[string]string{
		``:                              "empty",
		`{"TableName": "a"`:             "neither JSON nor YAML",
		`{"KeySchema": []}`:             "TableName is missing",
		`{"TableName":"abc"}`:           "KeySchema is missing",
		`[1]`:                           "table 1 of the list: a table is an object",
		`a: &x {b: c}` + "\n" + `d: *x`: "aliases",
		`{"Resources":{}}`:              "no tables",
		strings.Repeat("[", 500):        "neither JSON nor YAML",
		strings.Repeat("[", 99) + strings.Repeat("]", 99): "nested",
		`{"Resources":{"T":{"Type":"AWS::DynamoDB::Table","Properties":` +
			`{"TableName":{"Ref":"Stage"},` + keyOnly + `}}}}`: "--parameter Stage=VALUE",
		`{"Resources":{"T":{"Type":"AWS::DynamoDB::Table","Properties":` +
			`{"TableName":{"Fn::ImportValue":"x"},` + keyOnly + `}}}}`: "Fn::ImportValue",
	} {
		if _, err := read(t, text, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q in it", text, err, want)
		}
	}
	if _, err := read(t, `{"Resources":{}}`, endpoint.Parameters{"Nope": "1"}); err == nil ||
		!strings.Contains(err.Error(), "no parameter Nope") {
		t.Errorf("an unknown parameter: %v", err)
	}
}

// What the kit writes for CloudFormation is what the endpoint reads.
func TestExportedTemplatesAreRead(t *testing.T) {
	type item struct{ ID, Group string }
	table := singletable.NewTable("things", singletable.Keys("PK"),
		singletable.GSI("ByGroup", "Group", "PK"), singletable.TTL("ttl"))
	singletable.NewEntity[item](table, "Thing", singletable.Primary("THING#<ID>", ""))
	out, err := singletable.NewModel("things", []*singletable.Table{table}).
		Export(singletable.FormatCloudFormation, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(t, string(out), nil)
	if err != nil || len(got) != 1 || got[0].TableName != "things" || got[0].TimeToLive == nil ||
		!strings.Contains(string(got[0].Create), `"IndexName":"ByGroup"`) {
		t.Errorf("%s, %v", got, err)
	}
}

func FuzzDefinitions(f *testing.F) {
	f.Add(`{"TableName":"Orders",` + keyOnly + `}`)
	f.Add("Resources:\n  T: {Type: AWS::DynamoDB::Table, Properties: {TableName: !Sub '${A}'}}")
	f.Fuzz(func(t *testing.T, text string) {
		definitions, err := read(t, text, nil)
		if err != nil {
			return
		}
		for _, d := range definitions {
			if d.TableName == "" || len(d.Create) == 0 {
				t.Errorf("%+v", d)
			}
		}
	})
}
