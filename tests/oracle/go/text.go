package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"
)

// decodePlain reads JSON as plain data: an integer is an int, any other number a float64.
func decodePlain(raw []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return plain(value)
}

func plain(value any) (any, error) {
	switch v := value.(type) {
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return v.Float64()
		}
		i, err := v.Int64()
		return int(i), err
	case []any:
		for i, item := range v {
			converted, err := plain(item)
			if err != nil {
				return nil, err
			}
			v[i] = converted
		}
	case map[string]any:
		for key, item := range v {
			converted, err := plain(item)
			if err != nil {
				return nil, err
			}
			v[key] = converted
		}
	}
	return value, nil
}

// textFunctions are the functions that plain templates may call, besides Go's own. The tests of the
// plain language give the same functions to the implementation under test.
var textFunctions = template.FuncMap{
	"add": func(numbers ...int) int {
		sum := 0
		for _, number := range numbers {
			sum += number
		}
		return sum
	},
	"echo":     func(value any) any { return value },
	"zeroArgs": func() string { return "zeroArgs" },
	"oneArg":   func(a string) string { return "oneArg=" + a },
	"twoArgs":  func(a, b string) string { return "twoArgs=" + a + b },
	"dddArg":   func(a int, b ...string) string { return fmt.Sprintln(a, b) },
	"makemap": func(pairs ...string) map[string]any {
		made := map[string]any{}
		for i := 0; i+1 < len(pairs); i += 2 {
			made[pairs[i]] = pairs[i+1]
		}
		return made
	},
	"mapOfThree":  func() map[string]any { return map[string]any{"three": 3} },
	"returnInt":   func() int { return 7 },
	"valueString": func(string) string { return "value is ignored" },
	// Ollama's names, so that templates for Ollama parse; what they do is of no interest here.
	"json":             func(value any) any { return value },
	"currentDate":      func(...string) string { return "2024-03-01" },
	"yesterdayDate":    func(...string) string { return "2024-02-29" },
	"toTypeScriptType": func(any) string { return "any" },
	"die":              func() (bool, error) { return false, errors.New("die") },
}

func renderText(q *question) []result {
	var parsing result
	var t *template.Template
	guarded(&parsing, func() {
		parsed, err := template.New("").Funcs(textFunctions).Parse(q.text())
		if err != nil {
			parsing.fail("parse", err.Error())
			return
		}
		t = parsed
	})
	results := make([]result, len(q.Requests))
	for i, raw := range q.Requests {
		if t == nil {
			results[i] = parsing
			continue
		}
		data, err := decodePlain(raw)
		if err != nil {
			results[i].fail("request", err.Error())
			continue
		}
		var output bytes.Buffer
		guarded(&results[i], func() {
			if err := t.Execute(&output, data); err != nil {
				results[i].fail("exec", err.Error())
			}
		})
		results[i].setOutput(output.Bytes())
	}
	return results
}

// marshalJSON gives each request as Go writes it after reading it: Go's own JSON, without a template.
func marshalJSON(q *question) []result {
	results := make([]result, len(q.Requests))
	for i, raw := range q.Requests {
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			results[i].fail("request", err.Error())
			continue
		}
		output, err := json.Marshal(value)
		if err != nil {
			results[i].fail("exec", err.Error())
			continue
		}
		results[i].setOutput(output)
	}
	return results
}
