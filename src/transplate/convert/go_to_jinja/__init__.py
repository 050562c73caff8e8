"""Ollama's Go templates as Jinja chat templates: one pass a module, from the Go tree to Jinja text."""
