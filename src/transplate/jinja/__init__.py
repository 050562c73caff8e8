"""Chat templates as Hugging Face's transformers runs them."""
