package statements

import (
	"context"
	"errors"
	"time"
)

// JobKind says what a job does.
type JobKind string

// The kinds of jobs.
const (
	RenamingTag   JobKind = "rename-tag"
	MergingTags   JobKind = "merge-tags"
	DeletingTag   JobKind = "delete-tag"
	ApplyingRules JobKind = "apply-rules"
)

// Job is work over many rows that may take more than one request, and how far it has come.
type Job struct {
	UserID string  `dynamodbav:"userId,keyonly"`
	ID     string  `dynamodbav:"jobId,keyonly"`
	Kind   JobKind `dynamodbav:"kind"`
	// TagID is the tag that the job is about, Text its text when the job began and To the tag that
	// it is merged into.
	TagID string `dynamodbav:"tagId,omitempty"`
	Text  string `dynamodbav:"text,omitempty"`
	To    string `dynamodbav:"to,omitempty"`
	// Scope says what rules are applied to.
	Scope RuleScope `dynamodbav:"scope,omitempty"`

	// AccountID and Month are the last month that is done. Accounts are done in the order of their
	// ids.
	AccountID string `dynamodbav:"accountId,omitempty"`
	Month     Date   `dynamodbav:"month,omitempty"` // Its first day.
	Read      int    `dynamodbav:"read"`            // Rows that were looked at.
	Changed   int    `dynamodbav:"changed"`         // Rows that were changed, each counted once.

	Done      bool      `dynamodbav:"done,omitempty"`
	CreatedAt time.Time `dynamodbav:"createdAt"`
	UpdatedAt time.Time `dynamodbav:"updatedAt"`
	Version   uint64    `dynamodbav:"version,omitempty"`
}

// Jobs returns the jobs of the user, the oldest first: those that are open, and those that were
// done within JobKeep.
func (p *Person) Jobs(ctx context.Context) ([]Job, error) {
	return nil, errors.ErrUnsupported
}

// Job returns a job. The error is ErrNoJob.
func (p *Person) Job(ctx context.Context, id string) (Job, error) {
	return Job{}, errors.ErrUnsupported
}

// RunJob does what is left of a job and returns it as it is then. It goes on where an earlier run
// stopped, for whatever reason, and may be called again, also while another run goes on. Progress,
// if it is not nil, is called now and then, and at the end. The error is ErrNoJob, or that of the
// context or the store; the job can then be run again.
func (p *Person) RunJob(ctx context.Context, id string, progress func(Job)) (Job, error) {
	return Job{}, errors.ErrUnsupported
}

// RunJobs runs all jobs that are open, the oldest first.
func (p *Person) RunJobs(ctx context.Context, progress func(Job)) error {
	return errors.ErrUnsupported
}
