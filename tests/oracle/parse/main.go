// The oracle for the syntax of templates: a question in JSON a line, {"template": text}, and an answer a line:
// {"error"} or {"templates": [[name, printed, nodes], …]}, where a node is [byte offset, printed, value]. What no error
// of an execution points to, texts and loop controls, has no offset. Text that is no UTF-8 is {"x": hexadecimal}; in an
// error, each byte that is no UTF-8 is U+FFFD.
//
// With the argument "letters" it prints the table of src/transplate/gotmpl/letters.py instead; with "tables" and the
// name of a Go file, the tables of that file's variables.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"sort"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode"
	"unicode/utf8"
)

type question struct {
	Template json.RawMessage `json:"template"`
}

type answer struct {
	Error     string `json:"error,omitempty"`
	Templates []any  `json:"templates,omitempty"`
}

var functions = template.FuncMap{"json": func(any) string { return "" }, "currentDate": func(...string) string { return "" }}

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "letters":
			printLetters()
		case "tables":
			printTables(os.Args[2])
		}
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
	parsed, err := template.New("").Funcs(functions).Parse(read(q.Template))
	if err != nil {
		return answer{Error: err.Error()}
	}
	found := parsed.Templates()
	sort.Slice(found, func(i, j int) bool { return found[i].Name() < found[j].Name() })
	a := answer{Templates: []any{}}
	for _, t := range found {
		nodes := []any{}
		walk(t.Root, func(n parse.Node) {
			nodes = append(nodes, []any{position(n), text(n.String()), value(n)})
		})
		a.Templates = append(a.Templates, []any{text(t.Name()), text(t.Root.String()), nodes})
	}
	return a
}

func read(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var bytes struct{ X string }
	if err := json.Unmarshal(raw, &bytes); err != nil {
		panic(err)
	}
	data, err := hex.DecodeString(bytes.X)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func text(s string) any {
	if utf8.ValidString(s) {
		return s
	}
	return map[string]string{"x": hex.EncodeToString([]byte(s))}
}

func position(n parse.Node) any {
	switch n.(type) {
	case *parse.TextNode, *parse.BreakNode, *parse.ContinueNode:
		return nil
	}
	return int(n.Position())
}

// value is what a constant stands for where nothing asks for another type.
func value(n parse.Node) any {
	switch n := n.(type) {
	case *parse.StringNode:
		return text(n.Text)
	case *parse.NumberNode:
		float := func(f float64) string { return strconv.FormatFloat(f, 'x', -1, 64) }
		hexadecimal := strings.HasPrefix(strings.ToLower(n.Text), "0x") && !strings.ContainsAny(n.Text, "pP")
		switch {
		case n.IsComplex:
			return []string{"complex", float(real(n.Complex128)), float(imag(n.Complex128))}
		case n.IsFloat && !hexadecimal && n.Text[0] != '\'' && strings.ContainsAny(n.Text, ".eEpP"):
			return []string{"float", float(n.Float64)}
		case n.IsInt:
			return []string{"int", strconv.FormatInt(n.Int64, 10)}
		default:
			return []string{"int", strconv.FormatUint(n.Uint64, 10)}
		}
	}
	return nil
}

// walk visits a node and those in it, in the order of the source.
func walk(node parse.Node, visit func(parse.Node)) {
	pipeline := func(p *parse.PipeNode) {
		if p != nil {
			walk(p, visit)
		}
	}
	list := func(l *parse.ListNode) {
		if l != nil {
			for _, n := range l.Nodes {
				walk(n, visit)
			}
		}
	}
	branch := func(b parse.BranchNode) {
		pipeline(b.Pipe)
		list(b.List)
		list(b.ElseList)
	}
	if l, ok := node.(*parse.ListNode); ok {
		list(l)
		return
	}
	visit(node)
	switch n := node.(type) {
	case *parse.ActionNode:
		pipeline(n.Pipe)
	case *parse.TemplateNode:
		pipeline(n.Pipe)
	case *parse.IfNode:
		branch(n.BranchNode)
	case *parse.WithNode:
		branch(n.BranchNode)
	case *parse.RangeNode:
		branch(n.BranchNode)
	case *parse.PipeNode:
		for _, d := range n.Decl {
			walk(d, visit)
		}
		for _, c := range n.Cmds {
			walk(c, visit)
		}
	case *parse.CommandNode:
		for _, a := range n.Args {
			walk(a, visit)
		}
	case *parse.ChainNode:
		walk(n.Node, visit)
	}
}

// printLetters prints where, beyond ASCII, letters and digits begin and end.
func printLetters() {
	inside := false
	for r := rune(0x80); r <= unicode.MaxRune+1; r++ {
		is := r <= unicode.MaxRune && (unicode.IsLetter(r) || unicode.IsDigit(r))
		if is != inside {
			fmt.Printf("%x\n", r)
			inside = is
		}
	}
}

// printTables prints the variables of a Go file that are lists of literals, as JSON: by name, rows of cells. A cell is
// a string, a number as text, a name as {"name"}, or null for anything else.
func printTables(path string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		panic(err)
	}
	tables := map[string][][]any{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		table, ok := spec.Values[0].(*ast.CompositeLit)
		if !ok {
			return true
		}
		for _, row := range table.Elts {
			if cells, ok := row.(*ast.CompositeLit); ok {
				made := []any{}
				for _, cell := range cells.Elts {
					made = append(made, evaluate(cell))
				}
				tables[spec.Names[0].Name] = append(tables[spec.Names[0].Name], made)
			}
		}
		return true
	})
	if err := json.NewEncoder(os.Stdout).Encode(tables); err != nil {
		panic(err)
	}
}

func evaluate(e ast.Expr) any {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return e.Value
		}
		s, err := strconv.Unquote(e.Value)
		if err != nil {
			panic(err)
		}
		return s
	case *ast.BinaryExpr:
		left, isLeft := evaluate(e.X).(string)
		right, isRight := evaluate(e.Y).(string)
		if e.Op == token.ADD && isLeft && isRight {
			return left + right
		}
	case *ast.KeyValueExpr:
		return evaluate(e.Value)
	case *ast.Ident:
		return map[string]string{"name": e.Name}
	}
	return nil
}
