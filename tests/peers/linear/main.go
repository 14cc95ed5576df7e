// linear lets several clients get, list, create, update and delete a few ConfigMaps of an API server at the same time, and
// checks with Porcupine that what they were told is linearizable: as if one request had been served after the other, each
// between its beginning and its end, with versions that only grow.
//
//	linear -kubeconfig FILE [-clients 8] [-operations 3000] [-seed N]
//	linear -kubeconfig FILE -serve CMD -kills 20     starts the server itself, and kills it meanwhile
//
// A request without an answer may have been done or not, but not after the process was gone that it was sent to. The last line is
// `linear: N operations, M without an answer, K kills: linearizable` or says what is wrong; the exit code is 0, 1 or 2.
package main

import (
	"flag"
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	kubeconfig = flag.String("kubeconfig", "", "of the API server")
	nClients   = flag.Int("clients", 8, "at the same time")
	operations = flag.Int("operations", 3000, "of all clients together")
	seed       = flag.Int64("seed", 1, "of what clients do and when the server is killed")
	serve      = flag.String("serve", "", "command that serves at the kubeconfig's address")
	nKills     = flag.Int("kills", 0, "of the served command")
	out        = flag.String("out", "", "where a history that is not linearizable is shown (HTML)")
	logFile    = flag.String("log", os.DevNull, "of the served command")
	patience   = flag.Duration("patience", 2*time.Minute, "of the check")
)

// Each client has a connection of its own.
func newHTTP(config *rest.Config) (*http.Client, error) {
	own := rest.CopyConfig(config)
	own.QPS, own.Burst = -1, 0
	own.Proxy = http.ProxyURL(nil)
	return rest.HTTPClientFor(own)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "linear:", err)
	os.Exit(2)
}

// prepare makes an empty namespace.
func prepare(c *client) error {
	code, err := c.ask("POST", c.host+"/api/v1/namespaces", object{Metadata: metadata{Name: namespace}}, nil)
	if err != nil || (code != 201 && code != 409) {
		return fmt.Errorf("a namespace: %d %v", code, err)
	}
	for key := 0; key < nKeys; key++ {
		if code, err = c.ask("DELETE", c.path(key), nil, nil); err != nil || (code != 200 && code != 404) {
			return fmt.Errorf("a deletion: %d %v", code, err)
		}
	}
	return nil
}

type history struct {
	began     time.Time
	mutex     sync.Mutex
	all       []porcupine.Operation
	nUnknown  int
	nFinished atomic.Int64
}

func (h *history) work(c *client, s *server) {
	for h.nFinished.Load() < int64(*operations) {
		in := c.choose()
		call := time.Since(h.began).Nanoseconds()
		result := c.do(in)
		end := time.Since(h.began).Nanoseconds()
		h.mutex.Lock()
		changes := in.verb != get && in.verb != list
		if result.unknown && changes && !result.unsent {
			h.nUnknown++
		}
		if !result.unknown || (changes && !result.unsent) {
			h.all = append(h.all, porcupine.Operation{ClientId: c.id, Input: in, Call: call, Output: result, Return: end})
		}
		h.mutex.Unlock()
		if result.unknown {
			time.Sleep(5 * time.Millisecond) // nobody is there for now
		} else {
			h.nFinished.Add(1)
		}
	}
}

// killSome kills the server as often as it should be, spread over the work, and starts it again.
func (h *history) killSome(s *server, host string, c *http.Client) error {
	chance := rand.New(rand.NewSource(*seed))
	for i := 0; i < *nKills; i++ {
		at := int64(*operations) * int64(i+1) / int64(*nKills+1)
		for h.nFinished.Load() < at {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(chance.Intn(20)) * time.Millisecond)
		s.kill(h.began)
		if err := s.start(); err != nil {
			return err
		}
		c.CloseIdleConnections()
		if err := waitReady(c, host); err != nil {
			return err
		}
	}
	return nil
}

func (h *history) check(s *server) int {
	for i := range h.all {
		if op := &h.all[i]; op.Output.(output).unknown {
			op.Return = s.overAt(op.Call, op.Return)
		}
	}
	verdict, info := porcupine.CheckOperationsVerbose(newModel(), h.all, *patience)
	words := map[porcupine.CheckResult]string{porcupine.Ok: "linearizable", porcupine.Illegal: "NOT linearizable",
		porcupine.Unknown: "not decided in time"}
	if verdict != porcupine.Ok && *out != "" {
		if err := porcupine.VisualizePath(newModel(), info, *out); err != nil {
			fmt.Fprintln(os.Stderr, "linear:", err)
		}
	}
	fmt.Printf("linear: %d operations, %d without an answer, %d kills: %s\n", len(h.all), h.nUnknown, len(s.kills), words[verdict])
	if verdict != porcupine.Ok {
		return 1
	}
	return 0
}

func main() {
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		fail(err)
	}
	s := &server{command: *serve}
	if *serve != "" {
		if s.log, err = os.OpenFile(*logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			fail(err)
		}
		if err = s.start(); err != nil {
			fail(err)
		}
	}
	code, err := run(config, s)
	if s.process != nil {
		s.process.Process.Kill()
		s.process.Wait()
	}
	if err != nil {
		fail(err)
	}
	os.Exit(code)
}

func run(config *rest.Config, s *server) (int, error) {
	clients := make([]*client, *nClients+1) // the last one looks after the server
	for i := range clients {
		h, err := newHTTP(config)
		if err != nil {
			return 0, err
		}
		clients[i] = &client{id: i, http: h, host: config.Host, rand: rand.New(rand.NewSource(*seed + int64(i)*7919))}
	}
	keeper := clients[*nClients]
	if err := waitReady(keeper.http, config.Host); err != nil {
		return 0, err
	}
	if err := prepare(keeper); err != nil {
		return 0, err
	}
	h := &history{began: time.Now()}
	var group sync.WaitGroup
	for _, c := range clients[:*nClients] {
		group.Add(1)
		go func() {
			defer group.Done()
			h.work(c, s)
		}()
	}
	if *serve != "" {
		if err := h.killSome(s, config.Host, keeper.http); err != nil {
			return 0, err
		}
	}
	group.Wait()
	return h.check(s), nil
}
