"""Jinja → Go: a chat template is compiled to a template that Ollama runs, or refused by name and place."""
