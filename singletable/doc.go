// Package singletable is a kit for single-table designs on DynamoDB: tables, entities with typed
// key templates, access patterns, transactions, unique values, shards and cursors.
package singletable
