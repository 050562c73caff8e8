package main

import (
	"bytes"
	"encoding/json"
	"time"

	ollama "github.com/ollama/ollama/template"
)

// timing holds nanoseconds for one run of each step, warm.
type timing struct {
	Parse            float64 `json:"parse"`
	Execute          float64 `json:"execute"`
	UnmarshalExecute float64 `json:"unmarshal_execute"`
}

// measure runs f in growing batches and returns the nanoseconds of one run in the best of three batches
// that last about the given time together. prepare makes what a batch of n runs needs, outside of the
// measured time.
func measure(budget time.Duration, prepare func(n int), f func(i int)) float64 {
	batch := func(n int) time.Duration {
		prepare(n)
		begin := time.Now()
		for i := range n {
			f(i)
		}
		return time.Since(begin)
	}
	n := 1
	best := batch(n)
	for best < budget/6 && n < 1<<20 {
		n *= 2
		best = batch(n)
	}
	for range 2 {
		best = min(best, batch(n))
	}
	return float64(best.Nanoseconds()) / float64(n)
}

func benchmark(q *question) []result {
	var parsing result
	t := parseTemplate(q, &parsing)
	results := make([]result, len(q.Requests))
	budget := time.Duration(q.Nanoseconds)
	text := q.text()
	nothing := func(int) {}
	var parseTime float64
	if t != nil {
		parseTime = measure(budget, nothing, func(int) { ollama.Parse(text) })
	}
	for i, raw := range q.Requests {
		if t == nil {
			results[i] = parsing
			continue
		}
		results[i] = renderOne(t, raw)
		if results[i].Stage != "" {
			continue
		}
		var v request
		json.Unmarshal(raw, &v)
		var output bytes.Buffer
		// Executing joins messages in place, so that every run needs a copy of its own.
		var copies []ollama.Values
		results[i].Timing = &timing{
			Parse: parseTime,
			Execute: measure(budget, func(n int) {
				copies = make([]ollama.Values, n)
				for k := range copies {
					copies[k] = v.values()
				}
			}, func(k int) {
				output.Reset()
				t.Execute(&output, copies[k])
			}),
			UnmarshalExecute: measure(budget, nothing, func(int) {
				var fresh request
				json.Unmarshal(raw, &fresh)
				output.Reset()
				t.Execute(&output, fresh.values())
			}),
		}
	}
	return results
}
