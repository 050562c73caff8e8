"""Converted templates in every real engine against real Ollama, on conversations that take every branch."""
