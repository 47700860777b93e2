package wire_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

// scripted is a store that keeps what it was asked and answers what it was told, so that every
// member of an answer can be filled.
type scripted struct {
	*engine.DB
	asked any
	reply any
}

// answered gives a method of the scripted store its answer.
func answered[Out any](s *scripted, in any) (out Out, err error) {
	s.asked = in
	if err, ok := s.reply.(error); ok {
		return out, err
	}
	return s.reply.(Out), nil
}

func (s *scripted) CreateTable(_ context.Context, in *dynamo.CreateTableInput) (
	*dynamo.TableDescription, error) {
	return answered[*dynamo.TableDescription](s, in)
}

func (s *scripted) UpdateTable(_ context.Context, in *dynamo.UpdateTableInput) (
	*dynamo.TableDescription, error) {
	return answered[*dynamo.TableDescription](s, in)
}

func (s *scripted) DescribeTable(_ context.Context, name string) (
	*dynamo.TableDescription, error) {
	return answered[*dynamo.TableDescription](s, name)
}

func (s *scripted) DeleteTable(_ context.Context, name string) (*dynamo.TableDescription, error) {
	return answered[*dynamo.TableDescription](s, name)
}

func (s *scripted) ListTables(_ context.Context, in *dynamo.ListTablesInput) (
	*dynamo.ListTablesOutput, error) {
	return answered[*dynamo.ListTablesOutput](s, in)
}

func (s *scripted) UpdateTimeToLive(_ context.Context, in *dynamo.UpdateTimeToLiveInput) error {
	s.asked = in
	return nil
}

func (s *scripted) DescribeTimeToLive(_ context.Context, name string) (
	*dynamo.TimeToLiveDescription, error) {
	return answered[*dynamo.TimeToLiveDescription](s, name)
}

func (s *scripted) TagResource(_ context.Context, arn string, tags []dynamo.Tag) error {
	s.asked = []any{arn, tags}
	return nil
}

func (s *scripted) UntagResource(_ context.Context, arn string, keys []string) error {
	s.asked = []any{arn, keys}
	return nil
}

func (s *scripted) ListTagsOfResource(_ context.Context, in *dynamo.ListTagsInput) (
	*dynamo.ListTagsOutput, error) {
	return answered[*dynamo.ListTagsOutput](s, in)
}

func (s *scripted) ListStreams(_ context.Context, in *dynamo.ListStreamsInput) (
	*dynamo.ListStreamsOutput, error) {
	return answered[*dynamo.ListStreamsOutput](s, in)
}

func (s *scripted) DescribeStream(_ context.Context, in *dynamo.DescribeStreamInput) (
	*dynamo.StreamDescription, error) {
	return answered[*dynamo.StreamDescription](s, in)
}

func (s *scripted) GetShardIterator(_ context.Context, in *dynamo.GetShardIteratorInput) (
	string, error) {
	return answered[string](s, in)
}

func (s *scripted) GetRecords(_ context.Context, in *dynamo.GetRecordsInput) (
	*dynamo.GetRecordsOutput, error) {
	return answered[*dynamo.GetRecordsOutput](s, in)
}

func (s *scripted) ExecuteStatement(_ context.Context, in *dynamo.ExecuteStatementInput) (
	*dynamo.ExecuteStatementOutput, error) {
	return answered[*dynamo.ExecuteStatementOutput](s, in)
}

func (s *scripted) BatchExecuteStatement(_ context.Context,
	in *dynamo.BatchExecuteStatementInput) (*dynamo.BatchExecuteStatementOutput, error) {
	return answered[*dynamo.BatchExecuteStatementOutput](s, in)
}

func (s *scripted) ExecuteTransaction(_ context.Context, in *dynamo.ExecuteTransactionInput) (
	*dynamo.ExecuteTransactionOutput, error) {
	return answered[*dynamo.ExecuteTransactionOutput](s, in)
}

func (s *scripted) ExportTable(_ context.Context, in *dynamo.ExportTableInput) (
	*dynamo.ExportDescription, error) {
	return answered[*dynamo.ExportDescription](s, in)
}

func (s *scripted) DescribeExport(_ context.Context, arn string) (
	*dynamo.ExportDescription, error) {
	return answered[*dynamo.ExportDescription](s, arn)
}

func (s *scripted) ListExports(_ context.Context, arn string) ([]dynamo.ExportDescription, error) {
	return answered[[]dynamo.ExportDescription](s, arn)
}

func (s *scripted) ImportTable(_ context.Context, in *dynamo.ImportTableInput) (
	*dynamo.ImportDescription, error) {
	return answered[*dynamo.ImportDescription](s, in)
}

func (s *scripted) DescribeImport(_ context.Context, arn string) (
	*dynamo.ImportDescription, error) {
	return answered[*dynamo.ImportDescription](s, arn)
}

func (s *scripted) ListImports(_ context.Context, arn string) ([]dynamo.ImportDescription, error) {
	return answered[[]dynamo.ImportDescription](s, arn)
}

// The instants in answers. Those of tables are told to the millisecond.
var (
	began = time.Date(2026, 5, 6, 7, 8, 9, 250e6, time.UTC)
	ended = began.Add(90 * time.Second)
)

// exchange is a call through the SDK: what the store is to be asked, what it says, and what the
// SDK is to make of it.
type exchange struct {
	call  func(context.Context, *dynamodb.Client, *dynamodbstreams.Client) (any, error)
	asked any
	reply any
	want  any
}

// client gives a case the form of an exchange.
func client[In, Out any](op func(*dynamodb.Client, context.Context, *In,
	...func(*dynamodb.Options)) (*Out, error), in *In, asked, reply any, want *Out,
) exchange {
	return exchange{
		call: func(ctx context.Context, c *dynamodb.Client, _ *dynamodbstreams.Client) (
			any, error) {
			out, err := op(c, ctx, in)
			return out, err
		}, asked: asked, reply: reply, want: want,
	}
}

// streamsClient is client for the other model.
func streamsClient[In, Out any](op func(*dynamodbstreams.Client, context.Context, *In,
	...func(*dynamodbstreams.Options)) (*Out, error), in *In, asked, reply any, want *Out,
) exchange {
	return exchange{
		call: func(ctx context.Context, _ *dynamodb.Client, c *dynamodbstreams.Client) (
			any, error) {
			out, err := op(c, ctx, in)
			return out, err
		}, asked: asked, reply: reply, want: want,
	}
}

// run makes all exchanges with one store.
func run(t *testing.T, exchanges map[string]exchange) {
	t.Helper()
	store := &scripted{DB: openStore(t)}
	h := wire.NewHandler(store, wire.Options{})
	streams := dynamodbstreams.New(dynamodbstreams.Options{
		Region:       "local",
		BaseEndpoint: aws.String("http://streams.local"),
		Credentials:  credentials.NewStaticCredentialsProvider("id", "secret", ""),
		HTTPClient:   &http.Client{Transport: wire.Transport{Handler: h}},
		Retryer:      aws.NopRetryer{},
	})
	ignore := cmp.FilterPath(func(p cmp.Path) bool {
		name := p.Last().String()
		return name == ".noSmithyDocumentSerde" || name == ".ResultMetadata"
	}, cmp.Ignore())
	for name, e := range exchanges {
		t.Run(name, func(t *testing.T) {
			store.asked, store.reply = nil, e.reply
			got, err := e.call(context.Background(), clientOf(h), streams)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(e.asked, store.asked); diff != "" {
				t.Errorf("the store was asked something else (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(e.want, got, ignore); diff != "" {
				t.Errorf("the SDK understood something else (-want +got):\n%s", diff)
			}
		})
	}
}
