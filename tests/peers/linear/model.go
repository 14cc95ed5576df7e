package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// How many keys a history is about: few, so that clients meet.
const nKeys = 5

type verb string

const (
	get         verb = "get"
	list        verb = "list"
	create      verb = "create"
	update      verb = "update"   // whatever is there
	compare     verb = "compare"  // update with a resourceVersion
	remove      verb = "delete"   // whatever is there
	compareGone verb = "deleteAt" // delete with a resourceVersion as precondition
)

// What a client asked.
type input struct {
	verb    verb
	key     int
	value   string // no two writes have the same
	version int64  // of compare and compareGone
}

// What it was told. Unknown: nothing, and whether it was done is not known either.
type output struct {
	unknown bool
	unsent  bool // unknown, and nothing came of it
	code    int
	version int64 // of the object; of a list, the list's
	value   string
	items   [nKeys]entry
}

// One key; without a value it does not exist. Version 0: it is not known, because nobody was told.
type entry struct {
	value   string
	version int64
}

// The whole of what the model knows. Nothing that comes may have a version up to newest.
type state struct {
	newest int64
	keys   [nKeys]entry
}

func (e entry) exists() bool { return e.value != "" }

func (s state) write(key int, value string, version int64) state {
	s.keys[key] = entry{value, version}
	if version > s.newest {
		s.newest = version
	}
	return s
}

// step gives the states after an operation that ended so; none: it cannot have ended so here.
func step(s state, in input, out output) []state {
	now := s.keys[in.key]
	if out.unknown {
		return stepUnknown(s, in, now)
	}
	switch in.verb {
	case get:
		return stepGet(s, in.key, now, out)
	case list:
		return stepList(s, out)
	case create:
		return stepCreate(s, in, now, out)
	case update, compare:
		return stepUpdate(s, in, now, out)
	case remove, compareGone:
		return stepRemove(s, in, now, out)
	}
	return nil
}

// It happened or it did not; if it did, its version is the next one or a later one.
func stepUnknown(s state, in input, now entry) []state {
	states := []state{s}
	possible := map[verb]bool{
		create:      !now.exists(),
		update:      now.exists(),
		compare:     now.exists() && isAt(now, in.version),
		remove:      now.exists(),
		compareGone: now.exists() && isAt(now, in.version),
	}
	if possible[in.verb] {
		states = append(states, s.write(in.key, in.value, 0))
	}
	return states
}

func isAt(e entry, version int64) bool { return e.version == 0 || e.version == version }

func stepGet(s state, key int, now entry, out output) []state {
	if out.code == 404 {
		return when(!now.exists(), s)
	}
	return when(out.code == 200 && now.value == out.value && isAt(now, out.version), s.write(key, out.value, out.version))
}

func stepList(s state, out output) []state {
	for i, now := range s.keys {
		seen := out.items[i]
		if seen.value != now.value || (seen.exists() && !isAt(now, seen.version)) {
			return nil
		}
	}
	s.keys = out.items
	return when(out.version >= s.newest, state{out.version, s.keys})
}

func stepCreate(s state, in input, now entry, out output) []state {
	if out.code == 409 {
		return when(now.exists(), s)
	}
	return when(out.code == 201 && !now.exists() && out.version > s.newest, s.write(in.key, in.value, out.version))
}

func stepUpdate(s state, in input, now entry, out output) []state {
	switch out.code {
	case 404:
		return when(!now.exists(), s)
	case 409:
		// An object that is gone is a conflict, too, for whoever asks for a version of it.
		return when(in.verb == compare && (!now.exists() || now.version != in.version), s)
	}
	good := now.exists() && (in.verb == update || isAt(now, in.version))
	return when(out.code == 200 && good && out.version > s.newest, s.write(in.key, in.value, out.version))
}

func stepRemove(s state, in input, now entry, out output) []state {
	switch out.code {
	case 404:
		return when(!now.exists(), s)
	case 409:
		return when(in.verb == compareGone && now.exists() && now.version != in.version, s)
	}
	good := now.exists() && (in.verb == remove || isAt(now, in.version))
	return when(out.code == 200 && good, s.write(in.key, "", 0))
}

func when(good bool, next state) []state {
	if good {
		return []state{next}
	}
	return nil
}

func describe(in, out interface{}) string {
	i, o := in.(input), out.(output)
	if o.unknown {
		return fmt.Sprintf("%s %d %s @%d -> ?", i.verb, i.key, i.value, i.version)
	}
	return fmt.Sprintf("%s %d %s @%d -> %d %s @%d", i.verb, i.key, i.value, i.version, o.code, o.value, o.version)
}

// The model that histories are compared with: one store, one operation after the other, versions that only grow.
func newModel() porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []interface{} { return []interface{}{state{}} },
		Step: func(s, in, out interface{}) []interface{} {
			var next []interface{}
			for _, n := range step(s.(state), in.(input), out.(output)) {
				next = append(next, n)
			}
			return next
		},
		Equal:             func(a, b interface{}) bool { return a.(state) == b.(state) },
		DescribeOperation: describe,
		DescribeState:     func(s interface{}) string { return fmt.Sprintf("%+v", s) },
	}
	return model.ToModel()
}
