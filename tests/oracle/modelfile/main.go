// The oracle for Modelfiles: a question in JSON a line, {"data": base64}, and an answer a line: {"commands": [[name,
// args], …]} or {"error"}, as Ollama's parser package gives them. For {"parameter": [name, value]} the answer is {} or
// the "error" with which `ollama create` ends before it sends anything. For {"options": {…}}, parameters as JSON in a
// manifest or a request, it is the {"error"} or the {"values"} that are not zero.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/parser"
)

type question struct {
	Data      []byte         `json:"data"`
	Parameter []string       `json:"parameter"`
	Options   map[string]any `json:"options"`
}

type answer struct {
	Commands [][2]string  `json:"commands,omitempty"`
	Values   *api.Options `json:"values,omitempty"`
	Error    string       `json:"error,omitempty"`
}

func main() {
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	defer out.Flush()
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
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

func ask(q question) (a answer) {
	if len(q.Parameter) == 2 {
		return askParameter(q.Parameter[0], q.Parameter[1])
	}
	if q.Options != nil {
		var options api.Options
		if err := options.FromMap(q.Options); err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Values: &options}
	}
	file, err := parser.ParseFile(bytes.NewReader(q.Data))
	if err != nil {
		return answer{Error: err.Error()}
	}
	for _, command := range file.Commands {
		a.Commands = append(a.Commands, [2]string{command.Name, command.Args})
	}
	return a
}

func askParameter(name, value string) answer {
	values, err := api.FormatParams(map[string][]string{name: {value}})
	if err == nil {
		_, err = json.Marshal(api.CreateRequest{Parameters: values})
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{}
}
