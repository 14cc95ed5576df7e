// Prints what robfig/cron makes of schedules: one JSON object a line, {"schedule", "after", "times"} in seconds since 1970, for
// tests/golden/controllers/cron_next.jsonl. Times go on from the last one.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"time"

	"github.com/robfig/cron/v3"
)

var zones = []string{"UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Asia/Kolkata", "Australia/Lord_Howe", "Asia/Tehran",
	"Africa/Cairo", "America/Sao_Paulo", "Pacific/Apia", "Asia/Beirut", "America/Havana", "Europe/Dublin", "Antarctica/Troll"}

var fields = [5][]string{
	{"*", "0", "30", "*/7", "5,35", "10-20", "59"},
	{"*", "0", "2", "*/6", "1,3", "22-23", "?"},
	{"*", "1", "31", "*/10", "29", "15,30", "?"},
	{"*", "1", "feb", "3,10", "*/5", "11"},
	{"*", "0", "sun", "1-5", "fri", "*/3"},
}

func main() {
	r := rand.New(rand.NewSource(1))
	out := json.NewEncoder(os.Stdout)
	for i := 0; i < 1500; i++ {
		text := ""
		for _, f := range fields {
			text += " " + f[r.Intn(len(f))]
		}
		if i%50 == 0 {
			text = " " + []string{"@hourly", "@daily", "@weekly", "@monthly", "@yearly", "@every 90s"}[r.Intn(6)]
		}
		text = fmt.Sprintf("TZ=%s%s", zones[r.Intn(len(zones))], text)
		s, err := cron.ParseStandard(text)
		if err != nil {
			panic(err)
		}
		at := time.Unix(946684800+r.Int63n(60*365*86400), 0).UTC()
		row := struct {
			Schedule string  `json:"schedule"`
			After    int64   `json:"after"`
			Times    []int64 `json:"times"`
		}{text, at.Unix(), nil}
		for k := 0; k < 4 && (k == 0 || !at.IsZero()); k++ {
			at = s.Next(at)
			row.Times = append(row.Times, at.Unix())
		}
		out.Encode(row)
	}
}
