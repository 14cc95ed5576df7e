package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// server is a process that is killed and started again while clients use it.
type server struct {
	command string
	log     *os.File
	process *exec.Cmd
	mutex   sync.Mutex
	kills   []int64 // when each was over, since the beginning of the history
}

func (s *server) start() error {
	s.process = exec.Command("sh", "-c", "exec "+s.command)
	s.process.Stdout, s.process.Stderr = s.log, s.log
	return s.process.Start()
}

func (s *server) kill(began time.Time) {
	s.process.Process.Signal(syscall.SIGKILL)
	s.process.Wait()
	s.mutex.Lock()
	s.kills = append(s.kills, time.Since(began).Nanoseconds())
	s.mutex.Unlock()
}

// overAt tells when a request without an answer can have been done at the latest: at the end of the process that it was sent to.
func (s *server) overAt(call, end int64) int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, kill := range s.kills {
		if kill >= call {
			return max(kill, end)
		}
	}
	return 1 << 62
}

func waitReady(c *http.Client, host string) error {
	var last error
	for until := time.Now().Add(60 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		answer, err := c.Get(host + "/readyz")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == 200 {
				return nil
			}
			err = fmt.Errorf("%s", answer.Status)
		}
		last = err
	}
	return fmt.Errorf("the server is not ready: %w", last)
}
