package wire_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

var export = &dynamo.ExportDescription{
	ExportArn: "arn:e", ExportStatus: dynamo.ArchiveFailed, TableArn: "arn:t", TableID: "uuid",
	S3Bucket: "bucket", S3Prefix: "prefix", ClientToken: "token", StartTime: began,
	EndTime: ended, ExportManifest: "m", ItemCount: 2, BilledSizeBytes: 3, FailureCode: "code",
	FailureMessage: "sentence",
}

var exportSeen = &types.ExportDescription{
	ExportArn: aws.String("arn:e"), ExportStatus: types.ExportStatusFailed,
	ExportFormat: types.ExportFormatDynamodbJson, ExportType: types.ExportTypeFullExport,
	TableArn: aws.String("arn:t"), TableId: aws.String("uuid"), S3Bucket: aws.String("bucket"),
	S3Prefix: aws.String("prefix"), ClientToken: aws.String("token"), StartTime: &began,
	ExportTime: &began, EndTime: &ended, ExportManifest: aws.String("m"),
	ItemCount: aws.Int64(2), BilledSizeBytes: aws.Int64(3), FailureCode: aws.String("code"),
	FailureMessage: aws.String("sentence"),
}

var imported = &dynamo.ImportDescription{
	ImportArn: "arn:i", ImportStatus: dynamo.ArchiveInProgress, TableArn: "arn:t",
	TableID: "uuid", S3Bucket: "bucket", S3KeyPrefix: "prefix", ClientToken: "token",
	StartTime: began, EndTime: ended, ProcessedItemCount: 9, ImportedItemCount: 7, ErrorCount: 2,
	ProcessedSizeBytes: 99, FailureCode: "code", FailureMessage: "sentence",
}

var source = &types.S3BucketSource{
	S3Bucket: aws.String("bucket"), S3KeyPrefix: aws.String("prefix"),
}

var importSeen = &types.ImportTableDescription{
	ImportArn: aws.String("arn:i"), ImportStatus: types.ImportStatusInProgress,
	InputFormat: types.InputFormatDynamodbJson, TableArn: aws.String("arn:t"),
	TableId: aws.String("uuid"), S3BucketSource: source, ClientToken: aws.String("token"),
	StartTime: &began, EndTime: &ended, ProcessedItemCount: 9, ImportedItemCount: 7,
	ErrorCount: 2, ProcessedSizeBytes: aws.Int64(99), FailureCode: aws.String("code"),
	FailureMessage: aws.String("sentence"),
}

func TestExportsAndImportsGoRoundThroughTheSDK(t *testing.T) {
	run(t, map[string]exchange{
		"export": client((*dynamodb.Client).ExportTableToPointInTime,
			&dynamodb.ExportTableToPointInTimeInput{
				TableArn: aws.String("arn:t"), S3Bucket: aws.String("bucket"),
				S3Prefix: aws.String("prefix"), ClientToken: aws.String("token"),
				ExportFormat: types.ExportFormatDynamodbJson,
				ExportType:   types.ExportTypeFullExport,
			}, &dynamo.ExportTableInput{
				TableArn: "arn:t", S3Bucket: "bucket", S3Prefix: "prefix", ClientToken: "token",
			}, export, &dynamodb.ExportTableToPointInTimeOutput{ExportDescription: exportSeen}),
		"describe an export": client((*dynamodb.Client).DescribeExport,
			&dynamodb.DescribeExportInput{ExportArn: aws.String("arn:e")}, "arn:e", export,
			&dynamodb.DescribeExportOutput{ExportDescription: exportSeen}),
		"list exports": client((*dynamodb.Client).ListExports,
			&dynamodb.ListExportsInput{TableArn: aws.String("arn:t")}, "arn:t",
			[]dynamo.ExportDescription{*export}, &dynamodb.ListExportsOutput{
				ExportSummaries: []types.ExportSummary{{
					ExportArn: aws.String("arn:e"), ExportStatus: types.ExportStatusFailed,
					ExportType: types.ExportTypeFullExport,
				}},
			}),
		"import": client((*dynamodb.Client).ImportTable, &dynamodb.ImportTableInput{
			InputFormat: types.InputFormatDynamodbJson, S3BucketSource: source,
			InputCompressionType: types.InputCompressionTypeGzip,
			ClientToken:          aws.String("token"),
			TableCreationParameters: &types.TableCreationParameters{
				TableName: aws.String("T"), KeySchema: seenKey("pk"),
				AttributeDefinitions: []types.AttributeDefinition{{
					AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS,
				}},
				BillingMode: types.BillingModePayPerRequest,
			},
		}, &dynamo.ImportTableInput{
			S3Bucket: "bucket", S3KeyPrefix: "prefix", ClientToken: "token",
			InputCompressionType: dynamo.CompressionGzip,
			Table: dynamo.CreateTableInput{
				TableName: "T", KeySchema: dynamo.HashKey("pk"),
				AttributeDefinitions: []dynamo.AttributeDefinition{{
					AttributeName: "pk", AttributeType: dynamo.KindS,
				}},
				BillingMode: dynamo.BillingPayPerRequest,
			},
		}, imported, &dynamodb.ImportTableOutput{ImportTableDescription: importSeen}),
		"describe an import": client((*dynamodb.Client).DescribeImport,
			&dynamodb.DescribeImportInput{ImportArn: aws.String("arn:i")}, "arn:i", imported,
			&dynamodb.DescribeImportOutput{ImportTableDescription: importSeen}),
		"list imports": client((*dynamodb.Client).ListImports, &dynamodb.ListImportsInput{}, "",
			[]dynamo.ImportDescription{*imported}, &dynamodb.ListImportsOutput{
				ImportSummaryList: []types.ImportSummary{{
					ImportArn: aws.String("arn:i"), ImportStatus: types.ImportStatusInProgress,
					InputFormat: types.InputFormatDynamodbJson, TableArn: aws.String("arn:t"),
					S3BucketSource: source, StartTime: &began, EndTime: &ended,
				}},
			}),
	})
}

func TestListsOfExportsComeInPages(t *testing.T) {
	store := &scripted{DB: openStore(t)}
	var all []dynamo.ExportDescription
	for i := range 27 {
		all = append(all, dynamo.ExportDescription{ExportArn: fmt.Sprintf("arn:%02d", i)})
	}
	store.reply = all
	pages := dynamodb.NewListExportsPaginator(clientOf(wire.NewHandler(store, wire.Options{})),
		&dynamodb.ListExportsInput{MaxResults: aws.Int32(10)})
	var sizes []int
	at := 0
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range page.ExportSummaries {
			if want := all[at].ExportArn; *one.ExportArn != want {
				t.Fatalf("place %d: got %s, want %s", at, *one.ExportArn, want)
			}
			at++
		}
		sizes = append(sizes, len(page.ExportSummaries))
	}
	if fmt.Sprint(sizes) != "[10 10 7]" {
		t.Errorf("pages of %v", sizes)
	}
}
