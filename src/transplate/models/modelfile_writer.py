"""What a Modelfile says for a model: the road to its prompts, its stops, and a reason for each decision."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transplate.errors import TransplateError, UnsupportedTemplate, naming
from transplate.models.gguf import read_gguf
from transplate.models.huggingface import imported_chat_template
from transplate.models.joining import History, with_joins
from transplate.models.model import Model
from transplate.models.parameter_homes import notes_on_settings, to_parameters
from transplate.models.prompts import counting_template, default_system_of, notes_on_others, without_beginning
from transplate.models.sidecar import path_from
from transplate.models.source import load_base
from transplate.models.stops import find_stops, texts_of
from transplate.models.tokenizer import token_ids
from transplate.ollama.modelfile import Modelfile, ModelfileError
from transplate.ollama.roads import choose_road
from transplate.ollama.versions import OLDEST
from transplate.renderers import names
from transplate.source import Source

if TYPE_CHECKING:
    from transplate.convert import Conversion
    from transplate.jinja import JinjaTemplate
    from transplate.parity import ParityReport

_JINJA_SINCE = "0.30.0"
"""The first Ollama that runs the chat template in a GGUF."""
_NEARLY = 0.9
_OF_TEMPLATE = ("assumes ", "may differ", "system: ", "bos: ")
"""How the notes begin that are about a TEMPLATE."""
_IN_OLLAMA = ("Ollama store", "Ollama server")


def plain_modelfile(model: Model, folder: Path) -> Modelfile:
    """Return the Modelfile of a model as it is, without conversion.

    Args:
        model: The model.
        folder: The folder that its paths start from.

    Raises:
        ModelfileError: A Modelfile cannot say one of the values.
    """
    if model.kind == "GGUF":
        return ModelfileWriter(model, folder, None).modelfile()
    template = model.template.text if model.template else None
    return _written(model, base_of(model, folder), template, model.system)


def base_of(model: Model, folder: Path) -> str:
    """Return what FROM says for a model: its name in Ollama, its GGUF, or its folder.

    Args:
        model: The model.
        folder: The folder that a path starts from.
    """
    if model.kind == "Ollama store":
        return model.name.removeprefix("ollama:")
    if model.kind == "Ollama server":
        return model.name.partition("#")[2]
    if model.base:
        return model.base[0]
    path = Path(model.place)
    inside = weights_in(path)
    return path_from(folder, inside[0] if inside and inside[0].suffix == ".gguf" else path)


def weights_in(folder: Path) -> list[Path]:
    """Return the files in a folder that hold a model's weights, GGUF before others."""
    if not folder.is_dir():
        return []
    return [*sorted(folder.glob("*.gguf")), *sorted(folder.glob("*.safetensors"))]


class ModelfileWriter:
    """Makes the decisions, one after the other.

    Attributes:
        notes: What was decided, and why.
        conversion: How the template was converted, if it was.
        parity: Whether the TEMPLATE prints the same.
    """

    def __init__(self, model: Model, folder: Path, base: str | None) -> None:
        self.notes: list[str] = []
        self.conversion: Conversion | None = None
        self.parity: ParityReport | None = None
        self._model = model
        self._folder = folder
        self._base = base

    def modelfile(self) -> Modelfile:
        """Return the Modelfile."""
        model = self._model
        base = self._base or self._own_base()
        source, language = counting_template(model)
        self.notes += notes_on_settings(model.generation)
        if model.renderer:
            modelfile = _written(model, base, model.template.text if model.template else None, model.system)
        elif language == "gotmpl":
            modelfile = _written(model, base, source.text, model.system)
        else:
            modelfile = self._of_chat_template(base)
        self._add_stops(modelfile)
        return modelfile

    # --- FROM -------------------------------------------------------------------------------------------

    def _own_base(self) -> str:
        model = self._model
        if model.kind in ("Modelfile", "Go template", "chat template", "Ollama renderer"):
            what = "is a Modelfile already" if model.kind == "Modelfile" else "is a template without a model"
            raise TransplateError(f"{model.name}: {what}: --from says what the Modelfile is made from")
        if model.kind == "Hugging Face folder" and not weights_in(Path(model.place)):
            self.notes.append(f"FROM {model.place}: there are no weights in it yet")
        return base_of(model, self._folder)

    def _weights(self) -> Model:
        """Return what Ollama has of the tokenizer and the chat template of the model in FROM."""
        model = self._model
        if self._base is not None:
            try:
                return load_base(self._base, self._folder)
            except TransplateError:
                unknown = "whether its tokenizer adds BOS, and whether it has a chat template, is not known"
                self.notes.append(f"FROM {self._base}: not here, so that {unknown}")
                return replace(model, chat_template=None)
        if model.kind != "Hugging Face folder":
            return model
        inside = weights_in(Path(model.place))
        if inside and inside[0].suffix == ".gguf":
            return read_gguf(inside[0])
        tokens = model.tokens
        if tokens.adds_bos is None and tokens.bos in token_ids(Path(model.place)):
            # Ollama's import of a folder takes "not said" for no (convert/tokenizer.go).
            tokens = replace(tokens, adds_bos=False)
        return replace(model, chat_template=imported_chat_template(Path(model.place)), tokens=tokens)

    # --- TEMPLATE and SYSTEM ----------------------------------------------------------------------------

    def _of_chat_template(self, base: str) -> Modelfile:
        model, weights = self._model, self._weights()
        source, _ = counting_template(model)
        inside = weights.chat_template
        is_inside = inside is not None and inside.text == source.text
        if model.kind == "GGUF" and is_inside:
            return self._by_jinja(base, "the GGUF's own chat template makes the prompts")
        bos = model.tokens.bos
        tokens = model.special_tokens
        if weights.tokens.adds_bos and bos:
            tokens["bos_token"] = ""
            self.notes.append(self._about_bos(bos, source.text))
        self.notes += notes_on_others(model)
        own, body = without_beginning(model, source)
        jinja = _jinja(body.text, tokens)
        if (by_renderer := self._by_renderer(own, base, jinja)) is not None:
            return by_renderer
        try:
            go = self._to_go(body, tokens)
            system = own.system or self._default_system(body, tokens)
            modelfile = _written(own, base, go, system)
        except (UnsupportedTemplate, ModelfileError) as error:
            if not is_inside:
                raise
            return self._by_jinja(base, f"{error.message}; Ollama runs the chat template that it imports")
        if inside is not None and choose_road(go, inside.text, family=weights.family).unused_template:
            if is_inside:
                return self._by_jinja(base, "Ollama prefers the chat template of the weights")
            self.notes.append("road: the TEMPLATE is never run: Ollama prefers the chat template in the GGUF")
        else:
            self.notes.append("road: go_template, by a TEMPLATE that is made of the chat template")
        self._check(own, body, tokens, go, system)
        return modelfile

    def _about_bos(self, bos: str, template: str) -> str:
        jinja = _jinja(template, self._model.special_tokens)
        try:
            prompt = jinja.render([{"role": "user", "content": "Hello"}])
        except TransplateError:
            prompt = bos
        if prompt.startswith(bos):
            return f"bos: Ollama's tokenizer adds {bos}, so the TEMPLATE does not"
        return f"bos: Ollama's tokenizer adds {bos}, which the chat template does not print"

    def _by_renderer(self, own: Model, base: str, jinja: JinjaTemplate) -> Modelfile | None:
        """Return a Modelfile with RENDERER; None where no renderer of Ollama prints these prompts."""
        if "tools" not in jinja.variables:
            return None  # All renderers take tools, so that there is no need to try them.
        from transplate.parity.suggest import suggest

        suggestions = suggest(jinja)
        suggestion = next((one for one in suggestions if one.agreed.equal), None)
        if suggestion is None:
            if suggestions and suggestions[0].likeness > _NEARLY:
                near = suggestions[0].renderer
                self.notes.append(f"renderer: {near} prints nearly the same (transplate suggest tells more)")
            return None
        name = suggestion.renderer
        self.notes.append(f"road: renderer: {name}, which is built into Ollama, prints the same prompts")
        self.notes += [f"may differ where {condition}" for condition in suggestion.conditions]
        if name not in names(ollama=OLDEST):
            self.notes.append(f"needs a newer Ollama than {OLDEST}, which has no renderer {name}")
        self.parity = suggestion.report
        model = replace(own, renderer=name, parser=suggestion.parser)
        modelfile = _written(model, base, None, model.system)
        stops = [stop for stop in suggestion.stops if stop not in modelfile.values("stop")]
        for stop in stops:
            modelfile.add("stop", stop)
            self.notes.append(f"stop {stop}: goes with PARSER {suggestion.parser}")
        return modelfile

    def _by_jinja(self, base: str, reason: str) -> Modelfile:
        """Return a Modelfile without TEMPLATE."""
        self.conversion = self.parity = None
        self.notes = [note for note in self.notes if not note.startswith(_OF_TEMPLATE)]
        self.notes.append(f"road: gguf_chat_template, without TEMPLATE: {reason} (since {_JINJA_SINCE})")
        modelfile = _written(self._model, base, None, self._model.system)
        modelfile.set("requires", _JINJA_SINCE)
        return modelfile

    def _to_go(self, source: Source, tokens: dict[str, str]) -> str:
        from transplate.convert import to_go

        with naming(source):
            self.conversion = to_go(source.text, special_tokens=tokens)
        self.notes += [f"assumes {one.name}: {one.meaning}" for one in self.conversion.assumptions]
        self.notes += [f"may differ: {one.message}" for one in self.conversion.losses]
        return self.conversion.text

    def _default_system(self, source: Source, tokens: dict[str, str]) -> str:
        system = default_system_of(source.text, tokens)
        if system:
            self.notes.append(f"system: {_shortened(system)}, which the chat template puts in by itself")
        return system

    def _check(self, own: Model, body: Source, tokens: dict[str, str], go: str, system: str) -> None:
        from transplate.convert.beginning import with_beginning
        from transplate.ollama.begun import BegunTemplate
        from transplate.parity import check_parity
        from transplate.parity.conversations import ordinary_conversations

        def chat(history: History) -> JinjaTemplate:
            return _jinja(with_beginning(body.text, own.system, history), tokens)

        after = BegunTemplate(go, system=system, messages=own.messages)
        report = check_parity(chat(own.messages), after, ordinary_conversations(), explain=True)
        self.parity = with_joins(
            report, own.messages, lambda history, given: chat(history).render(**given.to_hf())
        )

    # --- PARAMETER stop ---------------------------------------------------------------------------------

    def _add_stops(self, modelfile: Modelfile) -> None:
        model = self._model
        if model.kind == "Ollama renderer":
            from transplate.renderers import entry_of

            modelfile.set("stop", list(entry_of(model.renderer).stops))
            return
        if model.kind in ("Modelfile", *_IN_OLLAMA):
            return  # it says what it says
        source, language = counting_template(model)
        render = None
        if language == "jinja":
            jinja = _jinja(without_beginning(model, source)[1].text, model.special_tokens)

            def render(messages: list[dict[str, Any]]) -> str:
                return jinja.render(messages, add_generation_prompt=False)

        stops = find_stops(model, render)
        self.notes += [f"stop {stop.text}: {stop.reason}" for stop in stops]
        for number, text in model.tokens.ends:
            if text is None:
                self.notes.append(f"token {number} ends a generation; no tokenizer here tells its text")
        own = modelfile.values("stop")
        modelfile.set("stop", list(dict.fromkeys([*own, *(stop.text for stop in stops)])))
        if not modelfile.values("stop"):
            self.notes.append("no stop: nothing that ends the assistant's turns was found")


def _written(model: Model, base: str, template: str | None, system: str) -> Modelfile:
    modelfile = Modelfile.parse("FROM base\n")
    modelfile.set("from", base)
    for name, value in (
        ("template", template or ""),
        ("renderer", model.renderer),
        ("parser", model.parser),
        ("requires", model.requires),
        ("system", system),
    ):
        if value:
            modelfile.set(name, value)
    for name, value in {**to_parameters(model.generation), **model.parameters}.items():
        values: list[Any] = list(texts_of(value)) if name == "stop" else [value]
        modelfile.set(name, values)
    if model.messages:
        modelfile.set("message", [f"{role}: {content}" for role, content in model.messages])
    for text in model.licenses:
        modelfile.add("license", text)
    return modelfile


def _jinja(text: str, tokens: dict[str, str]) -> JinjaTemplate:
    from transplate.jinja import JinjaTemplate

    return JinjaTemplate(text, special_tokens=tokens)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else f"{line[:57]}…")
