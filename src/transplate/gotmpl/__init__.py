"""Go's text/template language, without anything of Ollama."""
