package wire_test

// entry is an operation of the service's model and what is to be said about it.
type entry struct {
	operation string
	// lacks tells of an operation that is served what of it is not; empty for all of it. Of one
	// that is not served it tells why, or what does the same.
	lacks string
}

// Why operations of the same kind are not served.
const (
	noBackups  = "backups are exports, or copies of the data directory made while no process has it open"
	noGlobal   = "there is one place"
	noKinesis  = "there is no Kinesis; streams are served"
	noInsights = "there is no CloudWatch"
	noPolicies = "there is no IAM"
	noBulk     = "BatchWriteItem and ImportTable do it"
)

// catalogue lists the operations of DynamoDB's model, version 2012-08-10, as the AWS SDK for Go
// v2 has them.
var catalogue = []entry{
	{"BatchExecuteStatement", ""},
	{"BatchGetItem", ""},
	{"BatchWriteItem", ""},
	{"CancelBulkOperation", noBulk},
	{"CreateBackup", noBackups},
	{"CreateGlobalTable", noGlobal},
	{"CreateTable", "encryption, warm throughput, policies and settings of global tables are " +
		"accepted and mean nothing; vector indexes are refused"},
	{"DeleteBackup", noBackups},
	{"DeleteItem", ""},
	{"DeleteResourcePolicy", noPolicies},
	{"DeleteTable", ""},
	{"DescribeBackup", noBackups},
	{"DescribeBulkOperation", noBulk},
	{"DescribeContinuousBackups", "the answer is always that they are off"},
	{"DescribeContributorInsights", noInsights},
	{"DescribeEndpoints", ""},
	{"DescribeExport", ""},
	{"DescribeGlobalTable", noGlobal},
	{"DescribeGlobalTableSettings", noGlobal},
	{"DescribeImport", "the answer does not repeat the definition of the table"},
	{"DescribeKinesisStreamingDestination", noKinesis},
	{"DescribeLimits", "the figures are the service's defaults; no account is counted"},
	{"DescribeTable", "nothing about encryption, replicas, archives and restores; warm " +
		"throughput is that of a new table"},
	{"DescribeTableReplicaAutoScaling", noGlobal},
	{"DescribeTimeToLive", ""},
	{"DisableKinesisStreamingDestination", noKinesis},
	{"EnableKinesisStreamingDestination", noKinesis},
	{"ExecuteStatement", ""},
	{"ExecuteTransaction", ""},
	{"ExportTableToPointInTime", "only a whole table as it is now, as DynamoDB JSON, to a local " +
		"folder"},
	{"GetItem", ""},
	{"GetResourcePolicy", noPolicies},
	{"ImportTable", "only DynamoDB JSON, plain or gzip, from a local folder; no CSV, Ion or zstd"},
	{"ListBackups", noBackups},
	{"ListBulkOperations", noBulk},
	{"ListContributorInsights", noInsights},
	{"ListExports", ""},
	{"ListGlobalTables", noGlobal},
	{"ListImports", ""},
	{"ListTables", ""},
	{"ListTagsOfResource", ""},
	{"PutItem", ""},
	{"PutResourcePolicy", noPolicies},
	{"Query", ""},
	{"RestoreTableFromBackup", noBackups},
	{"RestoreTableToPointInTime", noBackups},
	{"Scan", ""},
	{"SearchVectors", "there are no vector indexes"},
	{"StartBulkPutItems", noBulk},
	{"TagResource", ""},
	{"TransactGetItems", ""},
	{"TransactWriteItems", ""},
	{"UntagResource", ""},
	{"UpdateContinuousBackups", noBackups},
	{"UpdateContributorInsights", noInsights},
	{"UpdateGlobalTable", noGlobal},
	{"UpdateGlobalTableSettings", noGlobal},
	{"UpdateItem", ""},
	{"UpdateKinesisStreamingDestination", noKinesis},
	{"UpdateTable", "as CreateTable; replicas are refused"},
	{"UpdateTableReplicaAutoScaling", noGlobal},
	{"UpdateTimeToLive", ""},
}

// streamsCatalogue lists those of the model of DynamoDB Streams.
var streamsCatalogue = []entry{
	{"DescribeStream", ""},
	{"GetRecords", ""},
	{"GetShardIterator", "not from a point in time (AT_TIMESTAMP)"},
	{"ListStreams", ""},
}
