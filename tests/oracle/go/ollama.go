package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"text/template/parse"
	"time"

	"text/template"

	"github.com/ollama/ollama/api"
	ollama "github.com/ollama/ollama/template"
	"github.com/ollama/ollama/thinking"
	"github.com/ollama/ollama/tools"
)

// request is Ollama's template.Values as JSON.
type request struct {
	Messages   []api.Message `json:"messages"`
	Tools      api.Tools     `json:"tools"`
	Prompt     string        `json:"prompt"`
	Suffix     string        `json:"suffix"`
	Think      bool          `json:"think"`
	ThinkLevel string        `json:"think_level"`
	IsThinkSet bool          `json:"is_think_set"`
}

// values copies the messages, because executing a template joins them in place.
func (r *request) values() ollama.Values {
	return ollama.Values{
		Messages:   slices.Clone(r.Messages),
		Tools:      r.Tools,
		Prompt:     r.Prompt,
		Suffix:     r.Suffix,
		Think:      r.Think,
		ThinkLevel: r.ThinkLevel,
		IsThinkSet: r.IsThinkSet,
	}
}

// parseTemplate parses as Ollama does and fixes the clock of its two date functions if one is given.
func parseTemplate(q *question, r *result) *ollama.Template {
	var parsed *ollama.Template
	guarded(r, func() {
		t, err := ollama.Parse(q.text())
		if err != nil {
			r.fail("parse", err.Error())
			return
		}
		if q.Now != "" {
			now, err := time.Parse(time.RFC3339, q.Now)
			if err != nil {
				r.fail("request", err.Error())
				return
			}
			t.Funcs(template.FuncMap{
				"currentDate":   func(...string) string { return now.Format("2006-01-02") },
				"yesterdayDate": func(...string) string { return now.AddDate(0, 0, -1).Format("2006-01-02") },
			})
		}
		parsed = t
	})
	return parsed
}

func parseOllama(q *question) []result {
	var r result
	parseTemplate(q, &r)
	return []result{r}
}

func renderOllama(q *question) []result {
	var parsing result
	t := parseTemplate(q, &parsing)
	results := make([]result, len(q.Requests))
	for i, raw := range q.Requests {
		if t == nil {
			results[i] = parsing
		} else {
			results[i] = renderOne(t, raw)
		}
	}
	return results
}

func renderOne(t *ollama.Template, raw json.RawMessage) (r result) {
	var v request
	if err := json.Unmarshal(raw, &v); err != nil {
		r.fail("request", err.Error())
		return r
	}
	var output bytes.Buffer
	guarded(&r, func() {
		if err := t.Execute(&output, v.values()); err != nil {
			r.fail("exec", err.Error())
		}
	})
	r.setOutput(output.Bytes())
	return r
}

// inference is what Ollama derives from the shape of a template.
type inference struct {
	Vars     []string  `json:"vars"`
	Thinking [2]string `json:"thinking"`
	ToolTag  string    `json:"tool_tag"`
	// Functions are the functions that the template's own tree calls, sorted.
	Functions []string `json:"functions"`
}

func inferOllama(q *question) []result {
	var r result
	t := parseTemplate(q, &r)
	if t == nil {
		return []result{r}
	}
	guarded(&r, func() {
		vars, err := t.Vars()
		if err != nil {
			r.fail("exec", err.Error())
			return
		}
		found := inference{Vars: vars, Functions: functions(t)}
		if vars == nil {
			found.Vars = []string{}
		}
		found.Thinking[0], found.Thinking[1] = thinking.InferTags(t.Template)
		// The tag has no accessor in this version; its value can be read by name, as fmt does.
		parser := tools.NewParser(t.Template, nil)
		found.ToolTag = reflect.ValueOf(parser).Elem().FieldByName("tag").String()
		r.Inference = &found
	})
	return []result{r}
}

// functions lists the identifiers of all trees of a template, which are its function calls.
func functions(t *ollama.Template) []string {
	names := map[string]bool{}
	var walk func(n reflect.Value)
	seen := map[uintptr]bool{}
	walk = func(n reflect.Value) {
		switch n.Kind() {
		case reflect.Interface:
			walk(n.Elem())
		case reflect.Pointer:
			if n.IsNil() || seen[n.Pointer()] {
				return
			}
			seen[n.Pointer()] = true
			if identifier, ok := n.Interface().(*parse.IdentifierNode); ok {
				names[identifier.Ident] = true
			}
			if n.Type() != reflect.TypeFor[*parse.Tree]() {
				walk(n.Elem())
			}
		case reflect.Slice:
			for i := range n.Len() {
				walk(n.Index(i))
			}
		case reflect.Struct:
			for i := range n.NumField() {
				if n.Type().Field(i).IsExported() {
					walk(n.Field(i))
				}
			}
		}
	}
	for _, associated := range t.Templates() {
		walk(reflect.ValueOf(associated.Root))
	}
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return sorted
}
