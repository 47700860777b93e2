// Package oidc identifies who sent a bearer token: it verifies the JWTs that an OpenID Connect
// issuer gives to users, and returns the subject.
//
// # Words
//
// The issuer is who signs tokens, known by an address. A [Verifier] takes the tokens of one issuer
// that were made for some apps: those whose client ids, or audiences, it was told.
//
// # Which tokens are taken
//
//	kind                      token_use  says what it was made for in
//	ID token of Cognito       id         aud, the app's client id
//	access token of Cognito   access     client_id; with a resource binding also aud
//	any other JWT             absent     aud, a text or a list
//
// Cognito's forms are those of "Understanding the access token" and "Understanding the identity
// (ID) token" in the Amazon Cognito Developer Guide, the others those of OpenID Connect Core 1.0,
// section 2, and of RFC 9068. Any other claim of a token about its use (refresh, logout) is
// refused, though its signature may be good.
//
// # Promises
//
// A token is taken only if its signature is by a key that the issuer publishes now, by one of the
// asymmetric [Algorithms], which must be the one that the key is for; the issuer is exactly the one
// that is trusted; the audience is one of those that are; and the time is within its times, give or
// take [Skew]. Keys that a token brings along, or points to, are not looked at. Names of claims are
// compared exactly: a claim "SUB" is not "sub".
//
// The user is the claim sub, checked by person.Subject, and nothing else.
//
// Keys are read again every [KeysFreshFor], and at once when a token names one that is not known,
// but not more often than every [RefreshGap], whatever tokens come: no caller can make a server
// hammer its issuer. While the issuer does not answer, the keys are used for [KeysKeptFor]. What
// cannot be decided without the issuer is unavailable, and not refused.
//
// No error, and so no log and no answer, has a part of a token in it.
package oidc
