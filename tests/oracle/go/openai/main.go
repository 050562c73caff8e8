// Command openai answers what Ollama's endpoint for OpenAI's clients makes of requests: a request to
// /v1/chat/completions a line in, the request to /api/chat that it becomes, or its error, a line out.
package main

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/openai"
)

type answer struct {
	Messages []api.Message `json:"messages"`
	Think    any           `json:"think,omitempty"`
	Error    string        `json:"error,omitempty"`
}

func answerTo(line []byte) answer {
	var asked openai.ChatCompletionRequest
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: err.Error()}
	}
	made, err := openai.FromChatRequest(asked)
	if err != nil {
		return answer{Error: err.Error()}
	}
	if made.Think == nil {
		return answer{Messages: made.Messages}
	}
	return answer{Messages: made.Messages, Think: made.Think.Value}
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		if err := out.Encode(answerTo(in.Bytes())); err != nil {
			os.Exit(1)
		}
	}
}
