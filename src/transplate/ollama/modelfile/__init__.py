"""Modelfiles: text or bytes in, the commands that Ollama's parser finds out, and edits that keep the rest."""

from transplate.ollama.modelfile.modelfile import Modelfile
from transplate.ollama.modelfile.reader import Command, ModelfileError

__all__ = ["Command", "Modelfile", "ModelfileError"]
