"""Ollama's Go templates and Hugging Face's Jinja chat templates, interchangeable, with proof.

The names listed in ``__all__`` are the public interface; the rest may change without notice. They are loaded
when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transplate.conversation import Conversation as Conversation
    from transplate.convert import Conversion as Conversion
    from transplate.convert import to_go as to_go
    from transplate.convert import to_jinja as to_jinja
    from transplate.errors import ErrorKind as ErrorKind
    from transplate.errors import RequestError as RequestError
    from transplate.errors import TemplateExecutionError as TemplateExecutionError
    from transplate.errors import TemplateSyntaxError as TemplateSyntaxError
    from transplate.errors import TransplateError as TransplateError
    from transplate.errors import UnsupportedTemplate as UnsupportedTemplate
    from transplate.gotmpl.template import GoTemplate as GoTemplate
    from transplate.jinja import JinjaTemplate as JinjaTemplate
    from transplate.limits import Limits as Limits
    from transplate.models import Model as Model
    from transplate.ollama import NEWEST as NEWEST
    from transplate.ollama import OllamaTemplate as OllamaTemplate
    from transplate.ollama import Values as Values
    from transplate.ollama.modelfile import Modelfile as Modelfile
    from transplate.ollama.modelfile import ModelfileError as ModelfileError
    from transplate.parity import ParityReport as ParityReport
    from transplate.parity import Suggestion as Suggestion
    from transplate.parity import check_parity as check_parity
    from transplate.parity import suggest as suggest

__version__ = "0.1.0"

_HOME = {
    "NEWEST": "ollama",
    "Conversation": "conversation",
    "Conversion": "convert",
    "ErrorKind": "errors",
    "GoTemplate": "gotmpl.template",
    "JinjaTemplate": "jinja",
    "Limits": "limits",
    "Model": "models",
    "Modelfile": "ollama.modelfile",
    "ModelfileError": "ollama.modelfile",
    "OllamaTemplate": "ollama",
    "ParityReport": "parity",
    "RequestError": "errors",
    "Suggestion": "parity",
    "TemplateExecutionError": "errors",
    "TemplateSyntaxError": "errors",
    "TransplateError": "errors",
    "UnsupportedTemplate": "errors",
    "Values": "ollama",
    "check_parity": "parity",
    "suggest": "parity",
    "to_go": "convert",
    "to_jinja": "convert",
}
"""The module each public name lives in."""

__all__ = [
    "NEWEST",
    "Conversation",
    "Conversion",
    "ErrorKind",
    "GoTemplate",
    "JinjaTemplate",
    "Limits",
    "Model",
    "Modelfile",
    "ModelfileError",
    "OllamaTemplate",
    "ParityReport",
    "RequestError",
    "Suggestion",
    "TemplateExecutionError",
    "TemplateSyntaxError",
    "TransplateError",
    "UnsupportedTemplate",
    "Values",
    "check_parity",
    "suggest",
    "to_go",
    "to_jinja",
]


def __getattr__(name: str) -> object:
    """Load a public name from its module when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted({*globals(), *__all__})
