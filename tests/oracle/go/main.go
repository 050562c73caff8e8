// Command oracle answers, one JSON line each, what real Ollama and real Go make of templates.
//
// A question is a template with any number of requests (see question); the answer holds one result for
// each request, in order. Questions are read from standard input, answers written to standard output.
// A question that takes too long or too much memory ends the process: the caller knows which one it was,
// because it is the first that has no answer.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// question is one line of input.
type question struct {
	// Mode is "render" (the default), "parse", "infer", "text", "json" or "bench".
	Mode string `json:"mode"`
	// Template is the template's text; TemplateB64 is used for text that is not UTF-8.
	Template    string `json:"template"`
	TemplateB64 []byte `json:"template_b64"`
	// Requests are Ollama's template.Values, or the data of a plain template in mode "text".
	Requests []json.RawMessage `json:"requests"`
	// Now fixes the clock (RFC 3339); without it the functions are Ollama's own.
	Now string `json:"now"`
	// Nanoseconds is how long each measurement of mode "bench" runs.
	Nanoseconds int64 `json:"nanoseconds"`
}

func (q *question) text() string {
	if q.TemplateB64 != nil {
		return string(q.TemplateB64)
	}
	return q.Template
}

// result is what one request gave. Bytes that are not UTF-8 travel in the fields that end in B64.
type result struct {
	Output    string `json:"output,omitempty"`
	OutputB64 string `json:"output_b64,omitempty"`
	Error     string `json:"error,omitempty"`
	ErrorB64  string `json:"error_b64,omitempty"`
	// Stage is "request", "parse", "exec" or "panic" when there is an error.
	Stage string `json:"stage,omitempty"`

	Inference *inference `json:"inference,omitempty"`
	Timing    *timing    `json:"timing,omitempty"`
}

func (r *result) setOutput(output []byte) {
	if utf8.Valid(output) {
		r.Output = string(output)
	} else {
		r.OutputB64 = base64.StdEncoding.EncodeToString(output)
	}
}

func (r *result) fail(stage, message string) {
	r.Stage = stage
	if utf8.ValidString(message) {
		r.Error = message
	} else {
		r.ErrorB64 = base64.StdEncoding.EncodeToString([]byte(message))
	}
}

type answer struct {
	Results []result `json:"results"`
}

func answerTo(q *question) answer {
	switch q.Mode {
	case "", "render":
		return answer{renderOllama(q)}
	case "parse":
		return answer{parseOllama(q)}
	case "infer":
		return answer{inferOllama(q)}
	case "text":
		return answer{renderText(q)}
	case "json":
		return answer{marshalJSON(q)}
	case "bench":
		return answer{benchmark(q)}
	}
	return answer{[]result{{Error: "unknown mode " + q.Mode, Stage: "request"}}}
}

// guarded runs f and reports a panic as the result's error.
func guarded(r *result, f func()) {
	defer func() {
		if p := recover(); p != nil {
			r.fail("panic", fmt.Sprint(p))
		}
	}()
	f()
}

// watchdog ends the process when the current question has run for too long or the heap is too big.
func watchdog(started *atomic.Int64, limit time.Duration, heap uint64, flush func()) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for range time.Tick(50 * time.Millisecond) {
		reason := ""
		if at := started.Load(); at != 0 && time.Since(time.Unix(0, at)) > limit {
			reason = "timeout"
		}
		metrics.Read(sample)
		if sample[0].Value.Uint64() > heap {
			reason = "memory"
		}
		if reason != "" {
			flush()
			fmt.Fprintln(os.Stderr, "oracle:", reason)
			os.Exit(3)
		}
	}
}

func main() {
	limit := flag.Duration("timeout", 10*time.Second, "time for one question")
	heap := flag.Uint64("heap", 4<<30, "bytes of live heap at which the process gives up")
	flag.Parse()
	debug.SetGCPercent(400)

	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriterSize(os.Stdout, 1<<20)
	encoder := json.NewEncoder(output)
	encoder.SetEscapeHTML(false)

	var writing sync.Mutex
	var started atomic.Int64
	flush := func() {
		writing.Lock()
		defer writing.Unlock()
		output.Flush()
	}
	go watchdog(&started, *limit, *heap, flush)

	for {
		line, err := input.ReadBytes('\n')
		if len(line) > 0 {
			started.Store(time.Now().UnixNano())
			var q question
			var a answer
			if err := json.Unmarshal(line, &q); err != nil {
				a = answer{[]result{{Error: err.Error(), Stage: "request"}}}
			} else {
				a = answerTo(&q)
			}
			started.Store(0)
			writing.Lock()
			encoder.Encode(a)
			if input.Buffered() == 0 {
				output.Flush()
			}
			writing.Unlock()
		}
		if err == io.EOF {
			flush()
			return
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "oracle:", err)
			os.Exit(1)
		}
	}
}
