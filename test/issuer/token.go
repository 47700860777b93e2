package issuer

import (
	"crypto/rand"
	"maps"
	"time"
)

// Life is how long tokens of the issuer are valid.
const Life = time.Hour

// Header returns the header of a token by the newest key.
func (i *Issuer) Header() Values {
	k := i.Newest()
	return Values{"alg": k.Algorithm, "kid": k.ID, "typ": "JWT"}
}

// Claims returns the claims of a plain token of a subject for an audience, which may be a list,
// with changes: a nil takes a claim out.
func (i *Issuer) Claims(subject string, audience any, changes ...Values) Values {
	now := i.now().Unix()
	c := Values{
		"iss": i.Name(), "sub": subject, "aud": audience, "iat": now,
		"exp": now + int64(Life.Seconds()), "jti": rand.Text(),
	}
	for _, change := range changes {
		maps.Copy(c, change)
	}
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// Token returns a token as most issuers give it.
func (i *Issuer) Token(subject string, audience any, changes ...Values) string {
	return i.Newest().Sign(i.Header(), i.Claims(subject, audience, changes...))
}

// CognitoID returns an ID token of Cognito for an app.
func (i *Issuer) CognitoID(subject, clientID string, changes ...Values) string {
	return i.Token(subject, clientID, append([]Values{{
		"token_use": "id", "cognito:username": "user-" + subject, "auth_time": i.now().Unix(),
		"email": subject + "@example.org", "email_verified": true,
	}}, changes...)...)
}

// CognitoAccess returns an access token of Cognito for an app: without an audience.
func (i *Issuer) CognitoAccess(subject, clientID string, changes ...Values) string {
	return i.Token(subject, nil, append([]Values{{
		"token_use": "access", "client_id": clientID, "username": "user-" + subject,
		"scope": "openid profile", "auth_time": i.now().Unix(), "version": 2,
	}}, changes...)...)
}
