"""The renderers built into Ollama, as portable Jinja templates."""

from transplate.renderers.catalog import names as names
from transplate.renderers.catalog import resolve as resolve
from transplate.renderers.renderer import Renderer as Renderer
from transplate.renderers.renderer import template_text as template_text

__all__ = ["Renderer", "names", "resolve", "template_text"]
