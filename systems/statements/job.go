package statements

import "time"

// Job is work over many rows that may take more than one request, and how far it has come.
type Job struct {
	UserID    string    `dynamodbav:"userId,keyonly"`
	ID        string    `dynamodbav:"jobId,keyonly"`
	Kind      string    `dynamodbav:"kind"`
	CreatedAt time.Time `dynamodbav:"createdAt"`
	Version   uint64    `dynamodbav:"version,omitempty"`
}
