// Command gotests prints the tables of Go's own tests of text/template, a JSON line for each row.
//
// It reads the test files of the Go that it runs with and evaluates, from their syntax trees, what is made
// of literals: strings, numbers, slices, maps and structs, through the file's own variables. What JSON
// cannot say (functions, channels, types other than int and float64) is left out of the data, field by
// field; a row whose data is not expressible as a whole has "no_data".
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// row is one row of a table of tests.
type row struct {
	File   string         `json:"file"`
	Line   int            `json:"line"`
	Table  string         `json:"table"`
	Fields map[string]any `json:"fields"`
	// Data is what the test executes every template of the table on, if the rows have no data themselves.
	Data any `json:"data,omitempty"`
	// NoData names the fields whose value JSON cannot say.
	NoData []string `json:"no_data,omitempty"`
}

// file is a parsed test file with what its literals may refer to.
type file struct {
	name    string
	set     *token.FileSet
	structs map[string]*ast.StructType
	values  map[string]ast.Expr
	// data is what a function executes templates on, by the name of the table that it walks through.
	data map[string]any
}

// known are values that the tests compute: the largest int, and the next number.
var known = map[string]any{
	"bigInt":  fmt.Sprintf("0x%x", uint64(math.MaxInt64)),
	"bigUint": fmt.Sprintf("0x%x", uint64(math.MaxInt64)+1),
}

var errNotJSON = fmt.Errorf("not JSON")

// eval returns the value of an expression made of literals.
func (f *file) eval(e ast.Expr) (any, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		switch e.Kind {
		case token.STRING:
			return strconv.Unquote(e.Value)
		case token.INT:
			return strconv.ParseInt(e.Value, 0, 64)
		case token.FLOAT:
			f, err := strconv.ParseFloat(e.Value, 64)
			return json.Number(strconv.FormatFloat(f, 'e', -1, 64)), err
		}
	case *ast.ParenExpr:
		return f.eval(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return f.eval(e.X)
		}
		value, err := f.eval(e.X)
		if i, ok := value.(int64); ok && e.Op == token.SUB {
			return -i, err
		}
	case *ast.BinaryExpr:
		left, err := f.eval(e.X)
		if err != nil {
			return nil, err
		}
		right, err := f.eval(e.Y)
		a, isText := left.(string)
		b, bothText := right.(string)
		if e.Op == token.ADD && isText && bothText {
			return a + b, err
		}
	case *ast.Ident:
		switch e.Name {
		case "nil":
			return nil, nil
		case "true", "false":
			return e.Name == "true", nil
		}
		if value, ok := known[e.Name]; ok {
			return value, nil
		}
		if value, ok := f.values[e.Name]; ok {
			return f.eval(value)
		}
	case *ast.CallExpr:
		if name, ok := e.Fun.(*ast.Ident); ok && name.Name == "int" && len(e.Args) == 1 {
			return f.eval(e.Args[0])
		}
	case *ast.CompositeLit:
		return f.composite(e, e.Type)
	}
	return nil, errNotJSON
}

// elem returns an element of a composite literal, whose own type may be left out.
func (f *file) elem(e ast.Expr, typ ast.Expr) (any, error) {
	if literal, ok := e.(*ast.CompositeLit); ok && literal.Type == nil {
		return f.composite(literal, typ)
	}
	return f.eval(e)
}

func (f *file) composite(e *ast.CompositeLit, typ ast.Expr) (any, error) {
	switch typ := typ.(type) {
	case *ast.StarExpr:
		return f.composite(e, typ.X)
	case *ast.ArrayType:
		if name, ok := typ.Elt.(*ast.Ident); ok && !plain(name.Name) {
			return nil, errNotJSON
		}
		list := []any{}
		for _, element := range e.Elts {
			value, err := f.elem(element, typ.Elt)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	case *ast.MapType:
		made := map[string]any{}
		for _, element := range e.Elts {
			pair := element.(*ast.KeyValueExpr)
			key, err := f.eval(pair.Key)
			if err != nil {
				return nil, err
			}
			name, ok := key.(string)
			if !ok {
				return nil, errNotJSON
			}
			if value, err := f.elem(pair.Value, typ.Value); err == nil {
				made[name] = value
			}
		}
		return made, nil
	case *ast.Ident:
		if declared, ok := f.structs[typ.Name]; ok {
			made, _ := f.fields(e, declared)
			return made, nil
		}
	case *ast.StructType:
		made, _ := f.fields(e, typ)
		return made, nil
	}
	return nil, errNotJSON
}

// plain tells whether elements of a type are the same in JSON data: the types of other numbers are not.
func plain(name string) bool {
	switch name {
	case "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "float32", "byte":
		return false
	}
	return true
}

// fields returns the exported fields of a struct literal that JSON can say, and the names of the others.
func (f *file) fields(e *ast.CompositeLit, typ *ast.StructType) (map[string]any, []string) {
	var names []string
	types := map[string]ast.Expr{}
	for _, field := range typ.Fields.List {
		embedded, _ := field.Type.(*ast.Ident)
		if len(field.Names) == 0 && embedded != nil {
			names = append(names, embedded.Name)
			types[embedded.Name] = field.Type
		}
		for _, name := range field.Names {
			names = append(names, name.Name)
			types[name.Name] = field.Type
		}
	}
	made := map[string]any{}
	var missing []string
	for i, element := range e.Elts {
		name := ""
		value := element
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			name, value = pair.Key.(*ast.Ident).Name, pair.Value
		} else {
			name = names[i]
		}
		if declared, ok := types[name].(*ast.Ident); ok && !plain(declared.Name) {
			missing = append(missing, name)
			continue
		}
		evaluated, err := f.elem(value, types[name])
		if err != nil {
			missing = append(missing, name)
			continue
		}
		made[name] = evaluated
	}
	return made, missing
}

// tables prints the rows of every slice of structs in a function or at the top level.
func (f *file) tables(table string, node ast.Node, out *json.Encoder) {
	ast.Inspect(node, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		array, ok := literal.Type.(*ast.ArrayType)
		if !ok {
			return true
		}
		typ, ok := array.Elt.(*ast.StructType)
		if name, named := array.Elt.(*ast.Ident); named {
			typ, ok = f.structs[name.Name]
		}
		if !ok {
			return true
		}
		for _, element := range literal.Elts {
			if entry, ok := element.(*ast.CompositeLit); ok {
				fields, missing := f.fields(entry, typ)
				line := f.set.Position(entry.Pos()).Line
				out.Encode(row{f.name, line, table, fields, f.data[table], missing})
			}
		}
		return false
	})
}

func read(path string) (*file, *ast.File, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	f := &file{filepath.Base(path), set, map[string]*ast.StructType{}, map[string]ast.Expr{}, map[string]any{}}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if declared, ok := n.Type.(*ast.StructType); ok {
				f.structs[n.Name.Name] = declared
			}
		case *ast.GenDecl:
			for _, spec := range n.Specs {
				if value, ok := spec.(*ast.ValueSpec); ok {
					for i, name := range value.Names {
						if i < len(value.Values) {
							f.values[name.Name] = value.Values[i]
						}
					}
				}
			}
		}
		return true
	})
	return f, tree, nil
}

// findData notes the data that a function gives to Execute for the tables that it walks through.
func (f *file) findData(function *ast.FuncDecl) {
	tables := []string{testName(function)}
	var data any
	ast.Inspect(function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if name, ok := n.X.(*ast.Ident); ok {
				tables = append(tables, name.Name)
			}
		case *ast.CallExpr:
			called, ok := n.Fun.(*ast.SelectorExpr)
			if ok && called.Sel.Name == "Execute" && data == nil {
				data, _ = f.eval(n.Args[len(n.Args)-1])
			}
		}
		return true
	})
	for _, table := range tables {
		if data != nil {
			f.data[table] = data
		}
	}
}

func testName(function *ast.FuncDecl) string {
	return strings.TrimPrefix(function.Name.Name, "Test")
}

// localValues adds the variables that a function declares, for the data of its tables.
func (f *file) localValues(function *ast.FuncDecl) *file {
	local := *f
	local.values = maps.Clone(f.values)
	ast.Inspect(function, func(n ast.Node) bool {
		if assign, ok := n.(*ast.AssignStmt); ok && assign.Tok == token.DEFINE && len(assign.Lhs) == len(assign.Rhs) {
			for i, target := range assign.Lhs {
				local.values[target.(*ast.Ident).Name] = assign.Rhs[i]
			}
		}
		return true
	})
	return &local
}

func main() {
	root := os.Getenv("GOROOT")
	if root == "" {
		root = runtime.GOROOT()
	}
	folder := filepath.Join(root, "src", "text", "template")
	out := json.NewEncoder(os.Stdout)
	for _, name := range []string{"exec_test.go", "multi_test.go", "parse/parse_test.go", "parse/lex_test.go"} {
		f, tree, err := read(filepath.Join(folder, name))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for _, declaration := range tree.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok {
				f.localValues(function).findData(function)
			}
		}
		for _, declaration := range tree.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				f.localValues(d).tables(testName(d), d, out)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if value, ok := spec.(*ast.ValueSpec); ok && len(value.Values) == 1 {
						f.tables(value.Names[0].Name, value.Values[0], out)
					}
				}
			}
		}
	}
}
