"""What Ollama does around a Go template: requests and templates in, prompts out."""

from transplate.ollama.template import OllamaTemplate
from transplate.ollama.values import Values
from transplate.ollama.versions import NEWEST

__all__ = ["NEWEST", "OllamaTemplate", "Values"]
