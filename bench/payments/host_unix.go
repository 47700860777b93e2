//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// errNoUser means that a server that does not run as root cannot be started.
var errNoUser = errors.New("this runs as root, PostgreSQL refuses to, and there is neither a user " +
	"postgres nor a user nobody to run it as")

// serverUser is the user that server processes run as; nil is the current one.
type serverUser struct {
	uid, gid uint32
}

// unprivileged finds the user for servers that refuse to run as root. It is nil when this process
// is not root and the server may simply run as the current user.
func unprivileged() (*serverUser, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		return &serverUser{uid: uint32(uid), gid: uint32(gid)}, nil
	}
	return nil, errNoUser
}

// own hands a directory to the user.
func (u *serverUser) own(dir string) error {
	if u == nil {
		return nil
	}
	return os.Chown(dir, int(u.uid), int(u.gid))
}

// run sets the user of a command and a process group for it: an interrupt at the terminal must
// reach this program alone, which then stops the server in order.
func (u *serverUser) run(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if u != nil {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: u.uid, Gid: u.gid}
	}
}
