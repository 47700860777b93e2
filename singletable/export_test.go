package singletable_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	st "github.com/exchequer-dev/exchequer/singletable"
)

var exportTime = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

func TestModelsAreWrittenForOtherTools(t *testing.T) {
	extension := map[st.Format]string{st.FormatTerraform: "tf"}
	for _, m := range seedModels() {
		for _, format := range st.Formats() {
			out, err := m.Export(format, exportTime)
			if err != nil {
				t.Fatal(err)
			}
			ext := extension[format]
			if ext == "" {
				ext = "json"
				if !json.Valid(out) {
					t.Errorf("%s of %s is no JSON", format, m.Name())
				}
			}
			name := fmt.Sprintf("%s.%s.%s", m.Name(), format, ext)
			dir := filepath.Join("testdata", "export")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("export", name), string(out))
		}
	}
}

// What NoSQL Workbench asks of a model: each attribute has one type, facets name only attributes
// that are listed, and sample items have their whole key.
func TestWorkbenchModelsAreWhole(t *testing.T) {
	for _, m := range seedModels() {
		out, err := m.Export(st.FormatWorkbench, exportTime)
		if err != nil {
			t.Fatal(err)
		}
		var model struct {
			DataModel []struct {
				TableName     string
				KeyAttributes struct {
					PartitionKey, SortKey struct{ AttributeName string }
				}
				NonKeyAttributes []struct{ AttributeName, AttributeType string }
				TableFacets      []struct {
					FacetName        string
					NonKeyAttributes []string
					TableData        []map[string]any
				}
			}
		}
		if err := json.Unmarshal(out, &model); err != nil {
			t.Fatal(err)
		}
		samples := 0
		for _, table := range model.DataModel {
			types := map[string]string{}
			for _, a := range table.NonKeyAttributes {
				if types[a.AttributeName] != "" {
					t.Errorf("%s lists %s twice", table.TableName, a.AttributeName)
				}
				types[a.AttributeName] = a.AttributeType
			}
			for _, facet := range table.TableFacets {
				for _, name := range facet.NonKeyAttributes {
					if types[name] == "" {
						t.Errorf("facet %s names %s, which %s does not list", facet.FacetName,
							name, table.TableName)
					}
				}
				for _, item := range facet.TableData {
					samples++
					for _, key := range []string{table.KeyAttributes.PartitionKey.AttributeName,
						table.KeyAttributes.SortKey.AttributeName} {
						if key != "" && item[key] == nil {
							t.Errorf("the sample of %s lacks %s", facet.FacetName, key)
						}
					}
				}
			}
		}
		if samples == 0 {
			t.Errorf("%s has no sample item", m.Name())
		}
	}
}

func TestUnknownFormatsNameThoseThatAre(t *testing.T) {
	_, err := seedModels()[0].Export("pulumi", exportTime)
	if err == nil || !strings.Contains(err.Error(), "workbench, cloudformation, terraform") {
		t.Errorf("Export says %v", err)
	}
}
