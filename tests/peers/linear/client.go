package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const namespace = "linear"

type metadata struct {
	Name            string `json:"name,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Continue        string `json:"continue,omitempty"`
}

type object struct {
	Metadata metadata          `json:"metadata"`
	Data     map[string]string `json:"data,omitempty"`
}

type objects struct {
	Metadata metadata `json:"metadata"`
	Items    []object `json:"items"`
}

// client has a connection of its own, and does one request at a time.
type client struct {
	id    int
	http  *http.Client
	host  string
	rand  *rand.Rand
	count int
	seen  [nKeys]int64 // versions, for comparisons
}

func keyName(key int) string { return fmt.Sprintf("key-%d", key) }

func (c *client) path(key int) string {
	collection := c.host + "/api/v1/namespaces/" + namespace + "/configmaps"
	if key < 0 {
		return collection
	}
	return collection + "/" + keyName(key)
}

// ask sends one request. An error: nobody knows what became of it.
func (c *client) ask(method, address string, body, to interface{}) (int, error) {
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		reader = bytes.NewReader(data)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, address, reader)
	if err != nil {
		return 0, err
	}
	request.GetBody = nil // a request is sent once: a second time would be another operation
	request.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	if answer.StatusCode >= 500 || answer.StatusCode == 429 {
		return 0, fmt.Errorf("%d: %s", answer.StatusCode, data)
	}
	if to != nil && answer.StatusCode < 300 {
		err = json.Unmarshal(data, to)
	}
	return answer.StatusCode, err
}

// isUnsent tells whether nobody listened: then nothing can have come of the request.
func isUnsent(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial"
}

func versionOf(m metadata) int64 {
	n, _ := strconv.ParseInt(m.ResourceVersion, 10, 64)
	return n
}

// choose picks the next operation.
func (c *client) choose() input {
	in := input{key: c.rand.Intn(nKeys)}
	c.count++
	in.value = fmt.Sprintf("%d-%d", c.id, c.count)
	switch n := c.rand.Intn(100); {
	case n < 25:
		in.verb = get
	case n < 35:
		in.verb, in.key = list, 0
	case n < 50:
		in.verb = create
	case n < 62:
		in.verb = update
	case n < 82:
		in.verb, in.version = compare, c.seen[in.key]
	case n < 92:
		in.verb = remove
	default:
		in.verb, in.version = compareGone, c.seen[in.key]
	}
	if in.version == 0 && (in.verb == compare || in.verb == compareGone) {
		in.verb = get
	}
	if in.verb == get || in.verb == list || in.verb == remove || in.verb == compareGone {
		in.value = ""
	}
	return in
}

func (c *client) do(in input) output {
	switch in.verb {
	case list:
		return c.list()
	case get:
		return c.single("GET", in, nil)
	case create:
		return c.single("POST", in, object{metadata{Name: keyName(in.key)}, map[string]string{"v": in.value}})
	case update:
		return c.single("PUT", in, object{metadata{Name: keyName(in.key)}, map[string]string{"v": in.value}})
	case compare:
		version := strconv.FormatInt(in.version, 10)
		return c.single("PUT", in, object{metadata{Name: keyName(in.key), ResourceVersion: version}, map[string]string{"v": in.value}})
	case remove:
		return c.single("DELETE", in, nil)
	default:
		only := map[string]interface{}{"preconditions": map[string]string{"resourceVersion": strconv.FormatInt(in.version, 10)}}
		return c.single("DELETE", in, only)
	}
}

func (c *client) single(method string, in input, body interface{}) output {
	var found object
	key := in.key
	if in.verb == create {
		key = -1
	}
	code, err := c.ask(method, c.path(key), body, &found)
	if err != nil {
		return output{unknown: true, unsent: isUnsent(err)}
	}
	out := output{code: code, version: versionOf(found.Metadata), value: found.Data["v"]}
	if out.version != 0 && method != "DELETE" {
		c.seen[in.key] = out.version
	}
	return out
}

// list reads everything, sometimes page by page: all pages are of one version.
func (c *client) list() output {
	query := url.Values{}
	if c.rand.Intn(3) == 0 {
		query.Set("limit", "2")
	}
	out := output{code: 200}
	for {
		var page objects
		code, err := c.ask("GET", c.path(-1)+"?"+query.Encode(), nil, &page)
		if err != nil || code != 200 {
			return output{unknown: true} // a read that nobody knows of changes nothing
		}
		version := versionOf(page.Metadata)
		if out.version != 0 && out.version != version {
			return output{code: 200, version: -1} // which the model refuses
		}
		out.version = version
		for _, item := range page.Items {
			for key := 0; key < nKeys; key++ {
				if item.Metadata.Name == keyName(key) {
					out.items[key] = entry{item.Data["v"], versionOf(item.Metadata)}
				}
			}
		}
		if page.Metadata.Continue == "" {
			return out
		}
		query.Set("continue", page.Metadata.Continue)
	}
}
