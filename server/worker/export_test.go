package worker

import "net/url"

// RefusePrivate is the check of an address that a name was resolved to.
func RefusePrivate(address string) error { return refusePrivate("tcp", address, nil) }

// ConfiguredPrivate reports whether a configured address is one of this machine or its network.
func ConfiguredPrivate(u *url.URL) bool { return configuredPrivate(u) }
