package oidc

import "github.com/exchequer-dev/exchequer/problem"

// Problems lists everything that can be wrong with a user's token, the first that applies first.
var Problems = problem.NewCatalogue("tokens")

var (
	// ErrMalformed reports that it is no signed JWT in compact form, or lacks a claim that all
	// have.
	ErrMalformed = Problems.Define(problem.Unauthenticated, "token_malformed",
		"The token is not one that this server can read: it {reason}",
		"Send an ID token or an access token of the issuer, as it was given, or an API key")
	// ErrAlgorithm reports that it is signed in a way that proves nothing here.
	ErrAlgorithm = Problems.Define(problem.Unauthenticated, "token_algorithm_invalid",
		"The token is signed by an algorithm that this server does not take",
		"Let the issuer sign with RS256, ES256, EdDSA or their like")
	// ErrWrongIssuer names the issuer whose tokens are accepted.
	ErrWrongIssuer = Problems.Define(problem.Unauthenticated, "token_issuer_invalid",
		"The token is not one of the issuer {issuer}",
		"Sign in there; the addresses must be the same to the last slash")
	// ErrWrongUse reports that the token is for something else than to show who calls.
	ErrWrongUse = Problems.Define(problem.Unauthenticated, "token_use_invalid",
		"The token is neither an ID token nor an access token",
		"Send one of these")
	// ErrWrongAudience reports that the token was made for another app.
	ErrWrongAudience = Problems.Define(problem.Unauthenticated, "token_audience_invalid",
		"The token was made for another app than those that this server takes tokens of",
		"Sign in with the app that belongs to this server, or start it with the app's client id")
	// ErrInvalidSubject reports that the token has no subject.
	ErrInvalidSubject = Problems.Define(problem.Unauthenticated, "token_subject_invalid",
		"The subject of the token {reason}",
		"Sign in as a person whom the issuer names by such a subject")
	// ErrExpired reports that a new token is needed.
	ErrExpired = Problems.Define(problem.Unauthenticated, "token_expired",
		"The token has expired",
		"Sign in again, or refresh the token")
	// ErrNotYetValid reports that the token begins later.
	ErrNotYetValid = Problems.Define(problem.Unauthenticated, "token_not_yet_valid",
		"The token is not valid yet",
		"Check the clocks of the issuer and of this server")
	// ErrKeyUnknown reports that the issuer does not publish the key.
	ErrKeyUnknown = Problems.Define(problem.Unauthenticated, "token_key_unknown",
		"The token is signed by a key that the issuer does not publish",
		"Sign in again; if the issuer has changed its keys just now, try again in a few seconds")
	// ErrSignature reports that the token was not signed by the key that it names.
	ErrSignature = Problems.Define(problem.Unauthenticated, "token_signature_invalid",
		"The signature of the token is wrong",
		"Send the token as the issuer gave it")
	// ErrUnavailable reports that no caller can be identified while the issuer is away.
	ErrUnavailable = Problems.Define(problem.Unavailable, "issuer_unavailable",
		"The issuer {issuer} does not answer, so that its tokens cannot be checked",
		"Try again in a few seconds; API keys work meanwhile")
)
