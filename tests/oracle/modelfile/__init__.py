"""Ollama's Modelfile parser as an oracle."""
