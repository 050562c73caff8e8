"""Ollama's built-in renderers."""
