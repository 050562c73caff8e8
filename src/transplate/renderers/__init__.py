"""The renderers built into Ollama, as portable Jinja templates."""

from transplate.renderers.catalog import entry_of as entry_of
from transplate.renderers.catalog import names as names
from transplate.renderers.catalog import resolve as resolve
from transplate.renderers.parsers import PARSERS as PARSERS
from transplate.renderers.renderer import Renderer as Renderer
from transplate.renderers.renderer import template_text as template_text
from transplate.renderers.served import ServedRenderer as ServedRenderer

__all__ = ["PARSERS", "Renderer", "ServedRenderer", "entry_of", "names", "resolve", "template_text"]
