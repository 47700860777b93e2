//go:build !unix

package main

import "os/exec"

// serverUser is the user that server processes run as; nil is the current one, the only one here.
type serverUser struct{}

func unprivileged() (*serverUser, error) { return nil, nil }

func (u *serverUser) own(string) error { return nil }

func (u *serverUser) run(*exec.Cmd) {}
