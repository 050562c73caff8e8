"""The rule about what a model says besides its template: PARAMETERs and RENDERER."""

from __future__ import annotations

from collections.abc import Iterator

from transplate.errors import TransplateError
from transplate.lint.finding import Fault, Rule
from transplate.models import Model
from transplate.models.prompts import renderer_of
from transplate.ollama.parameters import refusal_of
from transplate.renderers import entry_of


def _refused_by_ollama(model: Model) -> Iterator[Fault]:
    statements = model.modelfile.statements if model.modelfile else ()
    for statement in statements:
        if statement.keyword == "parameter" and (refusal := refusal_of(*statement.command)):
            yield Fault(refusal, statement.span.start)
    if model.renderer:
        place = next((one.span.start for one in statements if one.keyword == "renderer"), None)
        try:
            entry_of(renderer_of(model))
        except TransplateError as error:
            yield Fault(error.message.partition(";")[0], place)


RULES = (
    Rule(
        "refused-by-ollama",
        "error",
        "Ollama does not know a PARAMETER, cannot read its value, or has no such RENDERER.",
        _refused_by_ollama,
    ),
)
