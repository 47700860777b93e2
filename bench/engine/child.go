package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// child is a server in a separate process.
type child struct {
	command *exec.Cmd
	said    bytes.Buffer
	done    chan error
	started time.Duration // from its start until it took a connection
}

// startChild starts a program. Leading words with an equals sign are its environment.
func startChild(words []string, dir string) (*child, error) {
	env := os.Environ()
	for len(words) > 0 && strings.Contains(words[0], "=") {
		env = append(env, words[0])
		words = words[1:]
	}
	c := &child{command: exec.Command(words[0], words[1:]...), done: make(chan error, 1)}
	c.command.Env, c.command.Dir = env, dir
	c.command.Stdout, c.command.Stderr = &c.said, &c.said
	if err := c.command.Start(); err != nil {
		return nil, err
	}
	go func() { c.done <- c.command.Wait() }()
	return c, nil
}

// pollEvery is the interval at which a starting server is tried, which is the precision of start-up
// times.
const pollEvery = 2 * time.Millisecond

// await waits until the server takes a connection.
func (c *child) await(address string, limit time.Duration) error {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(pollEvery) {
		select {
		case err := <-c.done:
			c.done <- err
			return fmt.Errorf("it ended at once: %v: %s", err, strings.TrimSpace(c.said.String()))
		default:
		}
		if conn, err := net.Dial("tcp", address); err == nil {
			return conn.Close()
		}
	}
	return fmt.Errorf("it took no connection within %s", limit)
}

// stopTimeout bounds how long a server may take to end before it is killed.
const stopTimeout = 10 * time.Second

func (c *child) stop() error {
	if err := c.command.Process.Signal(syscall.SIGTERM); errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	select {
	case <-c.done: // servers end by the signal in their own ways
		return nil
	case <-time.After(stopTimeout):
		return c.command.Process.Kill()
	}
}
