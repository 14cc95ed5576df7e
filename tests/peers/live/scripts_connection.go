package main

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// proxy forwards TCP connections to the API server and can cut them.
type proxy struct {
	target, addr string
	mu           sync.Mutex
	ln           net.Listener
	conns        map[net.Conn]bool
}

func (e *Env) proxy() (*proxy, string) {
	u, err := url.Parse(e.c.config.Host)
	e.check(err)
	p := &proxy{target: u.Host, addr: fmt.Sprintf("127.0.0.1:%d", e.nextPort()), conns: map[net.Conn]bool{}}
	e.check(p.open())
	raw, err := clientcmd.LoadFromFile(e.c.kubeconfig)
	e.check(err)
	for _, c := range raw.Clusters {
		c.Server = "https://" + p.addr
	}
	path := filepath.Join(e.l.Dir, "proxy.kubeconfig")
	e.check(clientcmd.WriteToFile(*raw, path))
	return p, path
}

func (p *proxy) open() error {
	ln, err := net.Listen("tcp", p.addr)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.ln = ln
	p.mu.Unlock()
	go func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			go p.forward(in)
		}
	}()
	return nil
}

func (p *proxy) forward(in net.Conn) {
	out, err := net.Dial("tcp", p.target)
	if err != nil {
		in.Close()
		return
	}
	p.mu.Lock()
	p.conns[in], p.conns[out] = true, true
	p.mu.Unlock()
	go func() { io.Copy(out, in); out.Close(); in.Close() }()
	io.Copy(in, out)
	in.Close()
	out.Close()
	p.mu.Lock()
	delete(p.conns, in)
	delete(p.conns, out)
	p.mu.Unlock()
}

// cut closes every connection; new ones are accepted.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// close refuses connections until open is called.
func (p *proxy) close() {
	p.mu.Lock()
	p.ln.Close()
	p.mu.Unlock()
	p.cut()
}

// startBehind runs the scheduler with a connection that the script can cut.
func (e *Env) startBehind(kubeconfig string) {
	cfg, err := e.l.forceConfig(nil, kubeconfig)
	e.check(err)
	p, err := e.l.StartRaw(mustJSON(cfg), kubeconfig, openPaths)
	e.check(err)
	e.check(p.Ready(60 * time.Second))
	e.proc = p
}

// load creates n small pods and returns their names.
func (e *Env) load(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%03d", prefix, i)
		made, err := e.c.Create("pods", newPod(names[i], "100m"))
		e.check(err)
		e.uids[names[i]] = string(made.GetUID())
	}
	return names
}

// boundOf counts how many of the pods are bound within a time.
func (e *Env) boundOf(names []string, limit time.Duration) int {
	count := func() int {
		n := 0
		for _, name := range names {
			if e.isBound(name) {
				n++
			}
		}
		return n
	}
	e.c.store.Wait(limit, func() bool { return count() == len(names) })
	return count()
}

// connectionScripts: what a scheduler does when its API server goes away.
var connectionScripts = []Script{
	{Name: "watch-cut", Doc: "all connections are cut again and again while pods arrive", Manual: true, Run: func(e *Env) {
		p, kubeconfig := e.proxy()
		defer p.close()
		e.node("n1", "32")
		e.startBehind(kubeconfig)
		var names []string
		for i := 0; i < 5; i++ {
			names = append(names, e.load(fmt.Sprintf("c%d-", i), 10)...)
			p.cut()
			time.Sleep(200 * time.Millisecond)
		}
		e.fact("bound", "%d of %d", e.boundOf(names, 30*time.Second), len(names))
		e.fact("alive", "%v", e.proc.Alive())
	}},
	{Name: "server-unreachable", Doc: "the API server refuses connections for five seconds", Manual: true, Run: func(e *Env) {
		p, kubeconfig := e.proxy()
		defer p.close()
		e.node("n1", "32")
		e.startBehind(kubeconfig)
		e.pod("before", "1")
		e.bound("before", soon)
		p.close()
		names := e.load("d", 20)
		e.node("n2", "32", label("late", "yes"))
		e.pod("late", "1", selector("late", "yes"))
		time.Sleep(5 * time.Second)
		e.check(p.open())
		start := time.Now()
		e.fact("bound", "%d of %d", e.boundOf(append(names, "late"), 60*time.Second), len(names)+1)
		e.within("caught up after", time.Since(start), 0, 40*time.Second)
		e.fact("alive", "%v", e.proc.Alive())
		code, _, body, err := e.proc.Get("/readyz")
		e.fact("readyz", "%d %s %v", code, body, err)
	}},
	{Name: "server-restart", Doc: "the API server is killed and started again under load (needs -apiserver-pid)", Run: func(e *Env) {
		if e.apiserverPid == "" {
			e.fact("restart", "not tried")
			return
		}
		for i := 0; i < 4; i++ {
			e.node(fmt.Sprintf("n%d", i), "32")
		}
		first := e.load("e", 100)
		e.check(e.restartServer())
		second := e.load("f", 50)
		e.fact("bound", "%d of 150", e.boundOf(append(first, second...), 90*time.Second))
		e.fact("alive", "%v", e.proc.Alive())
	}},
}

// restartServer kills the API server and starts the same command again; the pid file is kept up to date.
func (e *Env) restartServer() error {
	raw, err := os.ReadFile(e.apiserverPid)
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return err
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return err
	}
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return err
	}
	args := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return err
	}
	for i := 0; i < 100 && processRuns(pid); i++ {
		time.Sleep(50 * time.Millisecond)
	}
	log, err := os.OpenFile(filepath.Join(dir, "apiserver-restarted.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	for try := 0; try < 5; try++ { // the port may still be held by the last threads of the process that was killed
		if err = e.runServer(args, dir, log); err == nil {
			return nil
		}
		time.Sleep(time.Second)
	}
	return err
}

// runServer starts the API server and waits until it answers; an error when it ends or does not answer.
func (e *Env) runServer(args []string, dir string, log *os.File) (err error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it outlives this tool
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	if err := os.WriteFile(e.apiserverPid, []byte(strconv.Itoa(cmd.Process.Pid)+"\n"), 0o644); err != nil {
		return err
	}
	for i := 0; i < 300; i++ {
		if _, err = e.c.client.Resource(kindOf["nodes"].GVR).List(e.c.ctx, metav1.ListOptions{Limit: 1}); err == nil {
			return nil
		}
		select {
		case <-ended:
			return fmt.Errorf("the API server ended at once: %w", err)
		case <-time.After(200 * time.Millisecond):
		}
	}
	return err
}

// processRuns tells whether a process is there and not a zombie.
func processRuns(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	return len(f) > 0 && f[0] != "Z"
}
