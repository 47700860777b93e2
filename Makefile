.PHONY: test race generate lint fuzz bench demo
test: # what a change must pass before anything else is looked at
	go test ./...
race: # needs cgo and a C compiler, for the race detector alone
	CGO_ENABLED=1 go test -race -short ./...
generate: # the pages under docs/ that come from code
	go generate ./...
lint: # formatting, vet, the module file and staticcheck
	.ci/run format vet tidy staticcheck
fuzz: # ten seconds for every fuzz target
	.ci/run fuzz
bench: # payments side by side with the peers that are installed
	go -C bench/payments run .
demo: # the whole story, on a fresh data directory
	go run ./cmd/exchequer demo
