// Command renderers answers what the renderers built into Ollama print: a request a line in, the prompt or the
// error a line out.
package main

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/renderers"
)

type question struct {
	Renderer  string          `json:"renderer"`
	ImageTags bool            `json:"image_tags"`
	Messages  []api.Message   `json:"messages"`
	Tools     []api.Tool      `json:"tools"`
	Think     *api.ThinkValue `json:"think"`
}

type answer struct {
	Output string `json:"output"`
	Error  string `json:"error,omitempty"`
}

func answerTo(line []byte) answer {
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return answer{Error: err.Error()}
	}
	renderers.RenderImgTags = q.ImageTags
	output, err := renderers.RenderWithRenderer(q.Renderer, q.Messages, q.Tools, q.Think)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Output: output}
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for in.Scan() {
		if err := encoder.Encode(answerTo(in.Bytes())); err != nil {
			os.Exit(1)
		}
		out.Flush()
	}
}
