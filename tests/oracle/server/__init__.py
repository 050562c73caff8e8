"""A real Ollama server."""
