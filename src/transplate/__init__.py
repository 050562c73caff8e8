"""Ollama's Go templates and Hugging Face's Jinja chat templates, interchangeable, with proof."""
