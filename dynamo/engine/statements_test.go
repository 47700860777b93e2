package engine_test

import (
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Statements in sessions. In their text \n is a new line.
//
//	run STATEMENT       with (parameters, as the elements of a list), strong, limit, next,
//	                    tell, capacity, sorted (what a scan answers has no order)
//	batch               capacity; the lines below are statements: with, strong
//	together [TOKEN]    capacity; the lines below are statements: with, tell
//
// An answer without items is "nothing". A page that is not the last ends with "more" and the key
// it ended with; "next" goes on there.

func (s *session) statement(r *request) (string, error) {
	switch r.verb {
	case "batch":
		return s.batch(r)
	case "together":
		return s.together(r)
	}
	in := &dynamo.ExecuteStatementInput{
		Statement: statementText(r), Parameters: s.parameters(r), ConsistentRead: r.has("strong"),
		Limit:                               s.number(r, "limit"),
		ReturnConsumedCapacity:              capacityOf(r),
		ReturnValuesOnConditionCheckFailure: dynamo.ReturnValues(r.option("tell")),
	}
	if r.has("next") {
		if in.NextToken = r.option("next"); in.NextToken == "" {
			in.NextToken = s.token
		}
	}
	out, err := s.statements.ExecuteStatement(s.ctx, in)
	return answer(err, func() string {
		if r.has("sorted") {
			slices.SortFunc(out.Items, func(a, b dynamo.Item) int {
				return strings.Compare(renderItem(a), renderItem(b))
			})
		}
		text := ""
		for _, item := range out.Items {
			text += renderItem(item) + "\n"
		}
		if len(out.Items) == 0 {
			text = "nothing\n"
		}
		if s.token = out.NextToken; s.token != "" {
			text += "more"
			if out.LastEvaluatedKey != nil {
				text += " after " + renderItem(out.LastEvaluatedKey)
			}
			text += "\n"
		}
		return text + renderConsumed(out.ConsumedCapacity)
	})
}

func statementText(r *request) string { return strings.ReplaceAll(r.args, `\n`, "\n") }

func capacityOf(r *request) dynamo.ReturnConsumedCapacity {
	return dynamo.ReturnConsumedCapacity(r.option("capacity"))
}

func (s *session) parameters(r *request) []dynamo.Value {
	if !r.has("with") {
		return nil
	}
	item, err := readItem("{all: [" + r.option("with") + "]}")
	if err != nil {
		s.t.Fatal(err)
	}
	return item["all"].L()
}

func (s *session) batch(r *request) (string, error) {
	in := &dynamo.BatchExecuteStatementInput{ReturnConsumedCapacity: capacityOf(r)}
	for i := range r.below {
		b := &r.below[i]
		in.Statements = append(in.Statements, dynamo.BatchStatement{
			Statement: statementText(b), Parameters: s.parameters(b),
			ConsistentRead: b.has("strong"),
		})
	}
	out, err := s.statements.BatchExecuteStatement(s.ctx, in)
	return answer(err, func() string {
		text := ""
		for _, one := range out.Responses {
			switch {
			case one.Error != nil:
				text += one.Error.Code + " " + one.TableName + ": " + one.Error.Message + "\n"
			case one.Item != nil:
				text += one.TableName + ": " + renderItem(one.Item) + "\n"
			default:
				text += one.TableName + ": done\n"
			}
		}
		return text + renderConsumption(out.ConsumedCapacity)
	})
}

func (s *session) together(r *request) (string, error) {
	in := &dynamo.ExecuteTransactionInput{
		ClientRequestToken: r.args, ReturnConsumedCapacity: capacityOf(r),
	}
	for i := range r.below {
		b := &r.below[i]
		in.TransactStatements = append(in.TransactStatements, dynamo.ParameterizedStatement{
			Statement: statementText(b), Parameters: s.parameters(b),
			ReturnValuesOnConditionCheckFailure: dynamo.ReturnValues(b.option("tell")),
		})
	}
	out, err := s.statements.ExecuteTransaction(s.ctx, in)
	return answer(err, func() string {
		return renderEach(out.Items, found, "") + renderConsumption(out.ConsumedCapacity)
	})
}
