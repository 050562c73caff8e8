"""What Ollama does around a Go template: its data model, functions and ways of rendering."""
