package statements

import (
	"context"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// JobKeep is how long a job that is done can still be read.
const JobKeep = 7 * 24 * time.Hour

// jobsRemoved bounds how many old jobs go when one begins, all in one transaction.
const jobsRemoved = 20

// JobKind is what a job does.
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
	Kind   JobKind `dynamodbav:"kind,required"`
	// TagID is the tag that the job is about, Text its text when the job began and To the tag that
	// it is merged into.
	TagID string `dynamodbav:"tagId,omitempty"`
	Text  string `dynamodbav:"text,omitempty"`
	To    string `dynamodbav:"to,omitempty"`
	// Scope is what rules are applied to.
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
	var jobs []Job
	var bad singletable.UnreadableRows
	for j, err := range modelOf(p).jobsOf.All(ctx, p.store(), OfUser{p.id}) {
		item, unreadable := singletable.AsUnreadable(err)
		if unreadable {
			bad = append(bad, item)
			continue
		}
		if err != nil {
			return nil, failed("list jobs", err)
		}
		jobs = append(jobs, j)
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return jobs, bad.Err()
}

// Job returns a job. The error is ErrNoJob.
func (p *Person) Job(ctx context.Context, id string) (Job, error) {
	if id == "" {
		return Job{}, ErrNoJob.With("job", id)
	}
	j, found, err := modelOf(p).jobs.Get(ctx, p.store(), Job{UserID: p.id, ID: id},
		singletable.Consistent())
	if err != nil {
		return Job{}, failed("read job", err)
	}
	if !found {
		return Job{}, ErrNoJob.With("job", id)
	}
	return j, nil
}

// beginTx adds a new job to a transaction, and removes some that were done long ago. Jobs are those
// that there are. The error is ErrTooMany.
func (p tagger) beginTx(tx *singletable.Tx, jobs []Job, j Job) (Job, error) {
	j.UserID, j.ID, j.CreatedAt, j.Version = p.id, p.newID("job"), p.now(), 1
	j.UpdatedAt = j.CreatedAt
	open, removed := 0, 0
	for _, old := range jobs {
		if !old.Done {
			open++
		} else if removed < jobsRemoved && j.CreatedAt.Sub(old.UpdatedAt) > JobKeep {
			removed++
			modelOf(p.Person).jobs.DeleteTx(tx, old)
		}
	}
	if open >= JobsMax {
		return Job{}, ErrTooMany.With("what", "jobs that are not done").With("limit", JobsMax)
	}
	modelOf(p.Person).jobs.CreateTx(tx, j)
	return j, nil
}

// saveTx adds to a transaction that a job is as in j, if no other writer changed it.
func (p tagger) saveTx(tx *singletable.Tx, j Job) {
	was := j.Version
	j.Version, j.UpdatedAt = was+1, p.now()
	m := modelOf(p.Person)
	m.jobs.PutTx(tx, j, m.jobs.Exists(), m.versions.job.Equals(was))
}

// RuleScope is which rows rules are tried on.
type RuleScope struct {
	// AccountIDs are the accounts; none means all.
	AccountIDs []string `dynamodbav:"accountIds,omitempty"`
	// From and To are the first and the last day, at most MonthsMax months apart.
	From Date `dynamodbav:"from,omitempty"`
	To   Date `dynamodbav:"to,omitempty"`
	// RuleIDs are the rules to try, also disabled ones; none means all that are not disabled.
	RuleIDs []string `dynamodbav:"ruleIds,omitempty"`
}
