package main

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

func op(client int, call, end int64, in input, out output) porcupine.Operation {
	return porcupine.Operation{ClientId: client, Call: call, Return: end, Input: in, Output: out}
}

func TestModel(t *testing.T) {
	made := op(0, 0, 10, input{verb: create, value: "a"}, output{code: 201, version: 5})
	changed := op(0, 20, 30, input{verb: update, value: "b"}, output{code: 200, version: 7})
	lost := op(0, 20, 30, input{verb: update, value: "b"}, output{unknown: true})
	seen := func(call, end int64, value string, version int64) porcupine.Operation {
		return op(1, call, end, input{verb: get}, output{code: 200, value: value, version: version})
	}
	listed := func(call, end int64, e entry, version int64) porcupine.Operation {
		return op(1, call, end, input{verb: list}, output{version: version, items: [nKeys]entry{e}})
	}
	rows := []struct {
		name    string
		good    bool
		history []porcupine.Operation
	}{
		{"a read after a write sees it", true, []porcupine.Operation{made, seen(15, 16, "a", 5)}},
		{"a stale read", false, []porcupine.Operation{made, changed, seen(40, 50, "a", 5)}},
		{"a read meanwhile may see either", true, []porcupine.Operation{made, changed, seen(25, 50, "a", 5)}},
		{"a read that goes back", false, []porcupine.Operation{made, changed, seen(21, 22, "b", 7), seen(23, 24, "a", 5)}},
		{"a stale list", false, []porcupine.Operation{made, changed, listed(40, 50, entry{"a", 5}, 9)}},
		{"a list of an older version than it shows", false, []porcupine.Operation{made, changed, listed(40, 50, entry{"b", 7}, 6)}},
		{"a version that goes back", false, []porcupine.Operation{made,
			op(0, 20, 30, input{verb: update, value: "b"}, output{code: 200, version: 4})}},
		{"two creations", false, []porcupine.Operation{made, op(1, 20, 30, input{verb: create, value: "c"}, output{code: 201, version: 8})}},
		{"two changes of one version", false, []porcupine.Operation{made,
			op(1, 20, 40, input{verb: compare, value: "c", version: 5}, output{code: 200, version: 8}),
			op(2, 20, 40, input{verb: compare, value: "d", version: 5}, output{code: 200, version: 9})}},
		{"an acknowledged write that is gone", false, []porcupine.Operation{made, op(1, 20, 30, input{verb: get}, output{code: 404})}},
		{"without an answer: it was done", true, []porcupine.Operation{made, lost, seen(40, 50, "b", 9)}},
		{"without an answer: it was not", true, []porcupine.Operation{made, lost, seen(40, 50, "a", 5)}},
		{"without an answer: it comes after all", false, []porcupine.Operation{made, lost, seen(40, 50, "a", 5), seen(60, 70, "b", 9)}},
	}
	for _, row := range rows {
		got := porcupine.CheckOperationsTimeout(newModel(), row.history, 10*time.Second)
		if (got == porcupine.Ok) != row.good {
			t.Errorf("%s: %v", row.name, got)
		}
	}
}
