package engine_test

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

const bucketOfTests = "exports"

func export(t *testing.T, db *engine.DB, in *dynamo.ExportTableInput) *dynamo.ExportDescription {
	t.Helper()
	d, err := db.ExportTable(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool {
		d, err = db.DescribeExport(t.Context(), d.ExportArn)
		return err != nil || d.ExportStatus != dynamo.ArchiveInProgress
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func importTable(t *testing.T, db *engine.DB, in *dynamo.ImportTableInput) (
	d *dynamo.ImportDescription,
) {
	t.Helper()
	d, err := db.ImportTable(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool {
		d, err = db.DescribeImport(t.Context(), d.ImportArn)
		return err != nil || d.ImportStatus != dynamo.ArchiveInProgress
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func another(name string) dynamo.CreateTableInput {
	in := streamed(dynamo.ViewKeysOnly)
	in.TableName, in.StreamSpecification = name, nil
	return *in
}

func TestAnExportMakesTheSameTableAgain(t *testing.T) {
	root := t.TempDir()
	db, _ := openStreamed(t, dynamo.ViewKeysOnly, engine.Options{ArchiveDir: root})
	for i := range 60 {
		item := key(fmt.Sprint("p", i%7), fmt.Sprint(i))
		item["n"], item["b"] = dynamo.N("1.50"), dynamo.B([]byte{0, byte(i)})
		item["m"] = dynamo.M(map[string]dynamo.Value{"ü": dynamo.L(dynamo.Null())})
		item["s"] = dynamo.NS("3", "1")
		put(t, db, item)
	}
	table, err := db.DescribeTable(t.Context(), streamTable)
	if err != nil {
		t.Fatal(err)
	}
	d := export(t, db, &dynamo.ExportTableInput{
		TableArn: table.TableArn, S3Bucket: bucketOfTests, S3Prefix: "nightly", ClientToken: "one",
	})
	if d.ExportStatus != dynamo.ArchiveCompleted || d.ItemCount != 60 {
		t.Fatalf("the export is %+v", d)
	}
	again, err := db.ExportTable(t.Context(), &dynamo.ExportTableInput{
		TableArn: table.TableArn, S3Bucket: bucketOfTests, S3Prefix: "nightly", ClientToken: "one",
	})
	if err != nil || again.ExportArn != d.ExportArn {
		t.Errorf("the same token began %+v, %v", again, err)
	}
	checkManifest(t, filepath.Join(root, bucketOfTests), d)

	folder := strings.TrimSuffix(d.ExportManifest, "manifest-summary.json")
	made := importTable(t, db, &dynamo.ImportTableInput{
		S3Bucket: bucketOfTests, S3KeyPrefix: folder, Table: another("Copy"),
		InputCompressionType: dynamo.CompressionGzip,
	})
	if made.ImportStatus != dynamo.ArchiveCompleted || made.ImportedItemCount != 60 ||
		made.ErrorCount != 0 {
		t.Fatalf("the import is %+v", made)
	}
	for _, name := range []string{streamTable, "Copy"} {
		out, err := db.Scan(t.Context(), &dynamo.ScanInput{TableName: name})
		if err != nil || out.Count != 60 {
			t.Fatalf("%s holds %d items, %v", name, out.Count, err)
		}
		for _, item := range out.Items {
			other, err := db.Get(t.Context(), &dynamo.GetInput{
				TableName: streamTable, Key: key(item["PK"].S(), item["SK"].S()),
			})
			if err != nil || !other.Item.Equal(item) {
				t.Errorf("%s has %v, the table has %v, %v", name, item, other.Item, err)
			}
		}
	}
}

// checkManifest follows an export's manifests to its files.
func checkManifest(t *testing.T, bucket string, d *dynamo.ExportDescription) {
	t.Helper()
	load := func(key string) []byte {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join(bucket, filepath.FromSlash(key)))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	sum := func(raw []byte) string {
		s := md5.Sum(raw)
		return base64.StdEncoding.EncodeToString(s[:])
	}
	raw := load(d.ExportManifest)
	if got := string(load(strings.TrimSuffix(d.ExportManifest, "json") + "md5")); got != sum(raw) {
		t.Errorf("the checksum of the summary is %s", got)
	}
	var summary struct {
		FilesKey  string `json:"manifestFilesS3Key"`
		ItemCount int64  `json:"itemCount"`
	}
	if err := json.Unmarshal(raw, &summary); err != nil {
		t.Fatal(err)
	}
	items := int64(0)
	for line := range strings.Lines(string(load(summary.FilesKey))) {
		var file struct {
			ItemCount int64  `json:"itemCount"`
			MD5       string `json:"md5Checksum"`
			Key       string `json:"dataFileS3Key"`
		}
		if err := json.Unmarshal([]byte(line), &file); err != nil {
			t.Fatal(err)
		}
		if got := sum(load(file.Key)); got != file.MD5 {
			t.Errorf("%s has the checksum %s, not %s", file.Key, got, file.MD5)
		}
		items += file.ItemCount
	}
	if items != summary.ItemCount || items != d.ItemCount {
		t.Errorf("the files hold %d items, the summary says %d", items, summary.ItemCount)
	}
}

func TestAnImportLeavesOutWhatIsWrong(t *testing.T) {
	root := t.TempDir()
	db, _ := openStreamed(t, dynamo.ViewKeysOnly, engine.Options{ArchiveDir: root})
	if err := os.MkdirAll(filepath.Join(root, bucketOfTests, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	lines := `{"Item":{"PK":{"S":"a"},"SK":{"S":"1"},"n":{"N":"1e2"}}}
{"Item":{"PK":{"S":"a"}}}
not JSON

{"Item":{"PK":{"S":"a"},"SK":{"S":"2"},"n":{"N":"x"}}}
{"item":{}}
{"Item":{"PK":{"S":"a"},"SK":{"S":"1"},"n":{"N":"7"}}}
`
	if err := os.WriteFile(filepath.Join(root, bucketOfTests, "in", "one.json"), []byte(lines),
		0o600); err != nil {
		t.Fatal(err)
	}
	d := importTable(t, db, &dynamo.ImportTableInput{
		S3Bucket: bucketOfTests, S3KeyPrefix: "in/", Table: another("Made"),
	})
	if d.ImportStatus != dynamo.ArchiveCompleted || d.ProcessedItemCount != 6 ||
		d.ImportedItemCount != 2 || d.ErrorCount != 4 ||
		!strings.Contains(d.FailureMessage, "of one.json") {
		t.Errorf("the import is %+v", d)
	}
	out, err := db.Get(t.Context(), &dynamo.GetInput{TableName: "Made", Key: key("a", "1")})
	if err != nil || out.Item["n"].N() != "7" {
		t.Errorf("the last of two items of a key stands: %v, %v", out, err)
	}
}

func TestArchivesStayInTheirFolder(t *testing.T) {
	root := t.TempDir()
	db, _ := openStreamed(t, dynamo.ViewKeysOnly, engine.Options{
		ArchiveDir: filepath.Join(root, "archive"),
	})
	table, err := db.DescribeTable(t.Context(), streamTable)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ bucket, prefix string }{
		{"..", ""}, {"a/b", ""}, {"UPPER", ""}, {"", ""}, {"ab..cd", ""},
		{bucketOfTests, "../../x"}, {bucketOfTests, "/etc"},
	} {
		if _, err := db.ExportTable(t.Context(), &dynamo.ExportTableInput{
			TableArn: table.TableArn, S3Bucket: c.bucket, S3Prefix: c.prefix,
		}); code(err) != dynamo.CodeValidation {
			t.Errorf("export to %q, %q: %v", c.bucket, c.prefix, err)
		}
		if _, err := db.ImportTable(t.Context(), &dynamo.ImportTableInput{
			S3Bucket: c.bucket, S3KeyPrefix: c.prefix, Table: another("Made"),
		}); code(err) != dynamo.CodeValidation {
			t.Errorf("import from %q, %q: %v", c.bucket, c.prefix, err)
		}
	}
	if _, err := db.DescribeTable(t.Context(), "Made"); code(err) != dynamo.CodeResourceNotFound {
		t.Errorf("a refused import made its table: %v", err)
	}
	off, _ := openStreamed(t, dynamo.ViewKeysOnly, engine.Options{})
	if _, err := off.ExportTable(t.Context(), &dynamo.ExportTableInput{
		TableArn: table.TableArn, S3Bucket: bucketOfTests,
	}); code(err) != dynamo.CodeValidation || !strings.Contains(err.Error(), "--archive") {
		t.Errorf("without a directory: %v", err)
	}
}

func TestAnInterruptedExportHasFailed(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	opts := engine.Options{ArchiveDir: root}
	db, err := engine.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	table, err := db.CreateTable(t.Context(), streamed(dynamo.ViewKeysOnly))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.PretendExport(table.TableArn); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = engine.Open(dir, opts); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	all, err := db.ListExports(t.Context(), table.TableArn)
	if err != nil || len(all) != 1 || all[0].ExportStatus != dynamo.ArchiveFailed ||
		!strings.Contains(all[0].FailureMessage, "export again") {
		t.Errorf("exports %+v, %v", all, err)
	}
}

// TestAnExportThatCannotBeWrittenHasFailed puts a file where the export needs a folder, and then
// where its last file is written to.
func TestAnExportThatCannotBeWrittenHasFailed(t *testing.T) {
	root := t.TempDir()
	db, err := engine.OpenMemory(engine.Options{ArchiveDir: root})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	in := another("Things")
	d, err := db.CreateTable(t.Context(), &in)
	if err != nil {
		t.Fatal(err)
	}
	bucket := filepath.Join(root, bucketOfTests)
	if err := os.WriteFile(bucket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ask := &dynamo.ExportTableInput{TableArn: d.TableArn, S3Bucket: bucketOfTests}
	failed := export(t, db, ask)
	if failed.ExportStatus != dynamo.ArchiveFailed || failed.ExportManifest != "" ||
		!strings.Contains(failed.FailureMessage, bucket) {
		t.Errorf("with a file in the way: %+v", failed)
	}
	if err := os.Remove(bucket); err != nil {
		t.Fatal(err)
	}
	done := export(t, db, ask)
	if done.ExportStatus != dynamo.ArchiveCompleted {
		t.Fatalf("with room: %+v", done)
	}
	err = filepath.WalkDir(bucket, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		if strings.Contains(path, ".writing") {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
