// The oracle for Go's fmt, encoding/json and text/template's escaping: one question in JSON a line, one answer a
// line. How values are written is told in ../../gotmpl/printing.py. With the argument "printable" it prints the table
// of src/transplate/gotmpl/printable.py instead.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"strconv"
	"text/template"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

type question struct {
	Op     string            `json:"op"`
	Format json.RawMessage   `json:"format"`
	Values []json.RawMessage `json:"values"`
}

type answer struct {
	Text  any    `json:"text,omitempty"`
	Error string `json:"error,omitempty"`
	// Addresses of pointers and functions, and of the slices and maps at the top.
	Addresses  []uint64 `json:"addresses,omitempty"`
	Containers []uint64 `json:"containers,omitempty"`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "printable" {
		printTable()
		return
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	defer out.Flush()
	decoder := json.NewDecoder(in)
	encoder := json.NewEncoder(out)
	for {
		var q question
		if err := decoder.Decode(&q); err != nil {
			return
		}
		if err := encoder.Encode(ask(q)); err != nil {
			panic(err)
		}
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}

func ask(q question) answer {
	var a answer
	values := make([]any, len(q.Values))
	for i, raw := range q.Values {
		values[i] = decode(raw)
		v := reflect.ValueOf(values[i])
		a.Addresses = append(a.Addresses, addressesIn(v)...)
		if (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && !v.IsNil() {
			a.Containers = append(a.Containers, uint64(uintptr(v.UnsafePointer())))
		}
	}
	text, err := run(q, values)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	a.Text = encodeString(text)
	return a
}

func run(q question, values []any) (string, error) {
	switch q.Op {
	case "sprintf":
		return fmt.Sprintf(decodeString(q.Format), values...), nil
	case "sprint":
		return fmt.Sprint(values...), nil
	case "sprintln":
		return fmt.Sprintln(values...), nil
	case "marshal":
		text, err := json.Marshal(values[0])
		return string(text), err
	case "html":
		return template.HTMLEscaper(values...), nil
	case "js":
		return template.JSEscaper(values...), nil
	case "urlquery":
		return template.URLQueryEscaper(values...), nil
	case "print":
		var b bytes.Buffer
		t := template.Must(template.New("").Parse("{{.V}}"))
		err := t.Execute(&b, map[string]any{"V": values[0]})
		return b.String(), err
	case "wire":
		// The value is a string of JSON: how it prints and marshals after Unmarshal into an any.
		var v any
		if err := json.Unmarshal([]byte(values[0].(string)), &v); err != nil {
			return "", err
		}
		text, err := json.Marshal(v)
		return string(text) + "\n" + fmt.Sprint(v), err
	}
	panic(q.Op)
}

func encodeString(s string) any {
	if utf8.ValidString(s) {
		return s
	}
	return map[string]string{"x": hex.EncodeToString([]byte(s))}
}

func decodeString(raw json.RawMessage) string {
	if raw[0] == '"' {
		var s string
		must(json.Unmarshal(raw, &s))
		return s
	}
	var m map[string]string
	must(json.Unmarshal(raw, &m))
	return string(unhex(m["x"]))
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	must(err)
	return b
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// decode makes a value of the type that its notation says.
func decode(raw json.RawMessage) any {
	raw = bytes.TrimSpace(raw)
	switch raw[0] {
	case 'n':
		return nil
	case 't':
		return true
	case 'f':
		return false
	case '"':
		return decodeString(raw)
	case '[':
		var items []json.RawMessage
		must(json.Unmarshal(raw, &items))
		made := make([]any, len(items))
		for i, item := range items {
			made[i] = decode(item)
		}
		return made
	}
	var tagged map[string]json.RawMessage
	must(json.Unmarshal(raw, &tagged))
	for tag, payload := range tagged {
		switch tag {
		case "x":
			return decodeString(raw)
		case "i":
			return build(reflect.TypeFor[int](), payload).Interface()
		case "f":
			return build(reflect.TypeFor[float64](), payload).Interface()
		case "m":
			return build(reflect.TypeFor[map[string]any](), payload).Interface()
		case "t":
			var pair []json.RawMessage
			must(json.Unmarshal(payload, &pair))
			name := decodeString(pair[0])
			t, ok := named[name]
			if !ok {
				panic(name)
			}
			return build(t, pair[1]).Interface()
		}
	}
	panic(string(raw))
}

// build makes a value of a known type, of which the notation tells only the content.
func build(t reflect.Type, raw json.RawMessage) reflect.Value {
	raw = bytes.TrimSpace(raw)
	made := reflect.New(t).Elem()
	null := raw[0] == 'n'
	switch t.Kind() {
	case reflect.Interface:
		if !null {
			made.Set(reflect.ValueOf(decode(raw)))
		}
	case reflect.Bool:
		made.SetBool(raw[0] == 't')
	case reflect.String:
		made.SetString(decodeString(raw))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(decodeString(raw), 10, 64)
		must(err)
		made.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		n, err := strconv.ParseUint(decodeString(raw), 10, 64)
		must(err)
		made.SetUint(n)
	case reflect.Float64:
		made.SetFloat(float(decodeString(raw)))
	case reflect.Complex128:
		var parts []json.RawMessage
		must(json.Unmarshal(raw, &parts))
		made.SetComplex(complex(float(decodeString(parts[0])), float(decodeString(parts[1]))))
	case reflect.Pointer:
		if !null {
			target := reflect.New(t.Elem())
			target.Elem().Set(build(t.Elem(), raw))
			made.Set(target)
		}
	case reflect.Func:
		made.Set(reflect.ValueOf(func() {}))
	case reflect.Slice:
		if null {
			break
		}
		if t.Elem().Kind() == reflect.Uint8 && raw[0] == '"' {
			made.Set(reflect.MakeSlice(t, 0, 0))
			for _, b := range unhex(decodeString(raw)) {
				made.Set(reflect.Append(made, reflect.ValueOf(b).Convert(t.Elem())))
			}
			break
		}
		var items []json.RawMessage
		must(json.Unmarshal(raw, &items))
		made.Set(reflect.MakeSlice(t, len(items), len(items)))
		for i, item := range items {
			made.Index(i).Set(build(t.Elem(), item))
		}
	case reflect.Map:
		if null {
			break
		}
		var pairs [][2]json.RawMessage
		must(json.Unmarshal(raw, &pairs))
		made.Set(reflect.MakeMap(t))
		for _, pair := range pairs {
			made.SetMapIndex(build(t.Key(), pair[0]), build(t.Elem(), pair[1]))
		}
	case reflect.Struct:
		var items []json.RawMessage
		must(json.Unmarshal(raw, &items))
		for i, item := range items {
			field := made.Field(i)
			settable := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
			settable.Set(build(field.Type(), item))
		}
	default:
		panic(t.String())
	}
	return made
}

func float(text string) float64 {
	if text == "NaN" {
		return math.NaN()
	}
	f, err := strconv.ParseFloat(text, 64)
	must(err)
	return f
}

// addressesIn lists the addresses that printing a value may show.
func addressesIn(v reflect.Value) (found []uint64) {
	switch v.Kind() {
	case reflect.Interface:
		return addressesIn(v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return append(addressesIn(v.Elem()), uint64(uintptr(v.UnsafePointer())))
	case reflect.Func:
		return []uint64{uint64(uintptr(v.UnsafePointer()))}
	case reflect.Slice:
		for i := 0; i < v.Len(); i++ {
			found = append(found, addressesIn(v.Index(i))...)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			found = append(found, addressesIn(it.Value())...)
		}
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			found = append(found, addressesIn(v.Field(i))...)
		}
	}
	return found
}

func printTable() {
	printable := false
	for r := rune(0); r <= unicode.MaxRune+1; r++ {
		if strconv.IsPrint(r) != unicode.IsPrint(r) {
			panic(r)
		}
		if strconv.IsPrint(r) != printable {
			fmt.Printf("%x ", r)
			printable = !printable
		}
	}
	fmt.Println()
}
