"""``transplate convert``: a template to the other language, a model to another kind of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from transplate.cli import FINE, NO
from transplate.cli.explained import explanation_lines, explanations, unexplained
from transplate.cli.files import STDOUT
from transplate.cli.options import downloading, giving_tokens, naming_template, speaking
from transplate.cli.output import errors_as_json, print_exactly, print_json, say
from transplate.cli.templates import TemplateFile, read_model, template_of
from transplate.cli.tokens import missing_tokens, token_options
from transplate.cli.verdict import report_data, report_lines
from transplate.cli.visible import visible
from transplate.cli.waiting import waiting
from transplate.errors import UnsupportedTemplate, naming
from transplate.files import write_file
from transplate.language import Language, language_of_name

if TYPE_CHECKING:
    from transplate import Conversion, Model, ParityReport

SPECIAL_TOKENS = "special-tokens"
"""The name of the losses for want of special tokens."""
_EPILOG = """\b
Examples:
  transplate convert template.gotmpl chat_template.jinja
  transplate convert template.gotmpl > chat_template.jinja
  ollama show --template llama3.2 | transplate convert - chat_template.jinja
  transplate convert chat_template.jinja template.gotmpl
  transplate convert Modelfile model/
  transplate convert model/ Modelfile
  transplate convert Modelfile repository/ --to hub
  transplate convert chat_template.jinja new.gguf --base old.gguf

What the result takes for granted, and whether it prints the same prompts, is reported on standard error; with
--json on standard output, together with the text. Exit status 1 means that SRC cannot be converted, or that a
prompt differs although the conversation is as the result takes it for granted, and not by what Ollama makes
of a request before any template sees it, or that no conversation has a prompt of both, or that SRC needs a
special token that nothing tells (--token), or that a whole model has a PARAMETER which Ollama would refuse.
"""


_LANGUAGES = {"gotmpl": "a Go template", "jinja": "a chat template in Jinja"}


@click.command("convert", epilog=_EPILOG, short_help="Convert a template, or a whole model.")
@click.argument("source", metavar="SRC")
@click.argument("destination", metavar="[DST]", required=False)
@click.option(
    "--to",
    "target",
    type=click.Choice(["jinja", "gotmpl", "hf", "modelfile", "hub"]),
    help="What to convert to, where the name of DST does not tell: hf is a folder in Hugging Face's layout, "
    "hub one with the files template, system and params, which the Hub takes for Ollama.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Print the same on every request, not only on ordinary ones; the result is longer.",
)
@click.option(
    "--assume",
    metavar="NAME",
    multiple=True,
    help="Take something more for granted: go-json for a chat template; hf-json, bos-token, llama-server, … "
    "for a Go template.",
)
@click.option("--from", "model_base", metavar="MODEL", help="With a Modelfile as DST: what FROM says.")
@click.option("--base", metavar="GGUF", help="Write DST as a copy of this GGUF with the chat template SRC.")
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
@click.option("--force", is_flag=True, help="Where DST is a whole model: replace what is there and differs.")
@naming_template
@giving_tokens
@speaking
@downloading
@click.option("--json", "as_json", is_flag=True, help="Print text and report as JSON.")
@errors_as_json
def command(
    source: str,
    destination: str | None,
    target: Literal["jinja", "gotmpl", "hf", "modelfile", "hub"] | None,
    exact: bool,
    assume: tuple[str, ...],
    model_base: str | None,
    base: str | None,
    dry_run: bool,
    force: bool,
    name: str | None,
    tokens: dict[str, str],
    language: Language | None,
    download: bool,
    as_json: bool,
) -> int:
    """Convert the template SRC to the other language and write it to DST, or to standard output (-).

    What DST is follows from its name: *.jinja or *.gotmpl for a template, Modelfile or *.modelfile for a
    Modelfile, a folder (one that is there, or a name that ends in /) for a whole model in Hugging Face's
    layout, merged into what is there. A template that the other language cannot express exactly is refused,
    and nothing is written.
    """
    from transplate.cli.models import WHOLE, target_of, write_model

    if destination == STDOUT:
        destination = None
    is_gguf = destination is not None and destination.lower().endswith(".gguf")
    if is_gguf and base is None:
        raise click.UsageError(f"{destination}: a GGUF is written as a copy of another, which --base names")
    if base is not None and not is_gguf:
        raise click.UsageError("--base needs a DST that is the new GGUF, such as new.gguf")
    if target in WHOLE and destination is None:
        raise click.UsageError(f"--to {target} needs a DST to write to")
    model = read_model(source, download=download, language=language, name=name, tokens=tokens)
    if base is not None and destination is not None:
        from transplate.cli.gguf import write_gguf

        return write_gguf(model, destination, base, dry_run=dry_run, force=force, as_json=as_json)
    whole = target_of(model, destination, target)
    if whole is not None and destination is not None:
        return write_model(
            model, destination, whole, base=model_base, dry_run=dry_run, force=force, as_json=as_json
        )
    if model_base is not None:
        raise click.UsageError("--from is for a Modelfile as DST")
    named = language_of_name(destination) if destination else None
    if target and named and target != named:
        raise click.UsageError(f"--to {target} and the name {destination} do not go together")
    wanted = named or target
    result = _Result(model, destination, dry_run=dry_run, as_json=as_json)
    if model.renderer and wanted != "gotmpl":
        return result.write_own("jinja")
    template = template_of(model)
    if wanted != template.language:
        try:
            return result.write_converted(template, exact=exact, assume=assume)
        except UnsupportedTemplate:
            if template.language == "jinja" or not (model.original or model.chat_template):
                raise
            return result.write_own("jinja")  # if the TEMPLATE was made of a chat template that is here
    if model.kind in ("Go template", "chat template"):
        raise click.UsageError(f"{template.source.name} is {_LANGUAGES[template.language]} already")
    return result.write_own(template.language)


class _Result:
    """A template as what becomes of a model, to be written and told about."""

    def __init__(self, model: Model, destination: str | None, *, dry_run: bool, as_json: bool) -> None:
        self._model = model
        self._destination = destination
        self._dry_run = dry_run
        self._as_json = as_json
        self._is_replaced = False

    def write_own(self, language: Language) -> int:
        """Write the template of the model as it is; of a RENDERER, the chat template that stands for it."""
        from transplate.models.chat_templates import chat_template_of
        from transplate.models.prompts import counting_template

        model = self._model
        text = chat_template_of(model).text if language == "jinja" else counting_template(model)[0].text
        how = f": the prompts of Ollama's renderer {model.renderer}" if model.renderer else ""
        self._write(text, {"text": text, "renderer": model.renderer}, [])
        if not self._as_json:
            self._say_written(how or ", without any conversion")
            self._say_left_out(language)
        return FINE

    def write_converted(self, template: TemplateFile, *, exact: bool, assume: tuple[str, ...]) -> int:
        """Write the template in the other language, and whether it prints the same."""
        convert = _to_go if template.language == "jinja" else _to_jinja
        with waiting(f"converting {self._model.name}"):
            conversion = convert(template, exact=exact, assume=assume)
            report = _check(template, conversion)
        lines = _lines(conversion, report, template, self._destination or "the result")
        self._write(conversion.text, _data(conversion, report), lines)
        if not self._as_json:
            language: Language = "jinja" if template.language == "gotmpl" else "gotmpl"
            self._say_left_out(language)
            is_told = self._destination is None or language_of_name(self._destination) is not None
            self._say_written("" if is_told else f", {_LANGUAGES[language]}")
        is_fine = report.checked and not unexplained(report, conversion).differences
        return FINE if is_fine and not missing_tokens(report.reasons) else NO

    def _write(self, text: str, data: dict[str, Any], lines: Iterable[str]) -> None:
        if self._destination is not None:
            there = Path(self._destination)
            self._is_replaced = there.is_file() and there.stat().st_size > 0
            if not self._dry_run:
                write_file(there, text.encode())
        if self._as_json:
            print_json(data, indent=2)
            return
        if self._destination is None:
            print_exactly(text.encode())
        for line in lines:
            say(line, err=True)

    def _say_written(self, what: str) -> None:
        if self._destination is not None:
            done = "would write" if self._dry_run else "wrote"
            replaced = ", in place of what was there" if self._is_replaced else ""
            say(f"{done} {visible(self._destination)}{what}{replaced}", err=True)

    def _say_left_out(self, language: Language) -> None:
        """Say what a template cannot have of the model that it is of."""
        from transplate.cli.models import say_warnings
        from transplate.models.prompts import notes_on_others

        model = self._model
        asides = {"SYSTEM": model.system, "MESSAGE": model.messages} if language == "gotmpl" else {}
        names = [name for name, value in {**asides, "PARSER": model.parser}.items() if value]
        names += [f"PARAMETER {name}" for name in model.parameters]
        if names:
            what, keeps = ("TEMPLATE", "Modelfile") if language == "gotmpl" else ("chat template", "folder")
            rest = f"no part of a {what} (a {keeps} as DST keeps all of it)"
            say(f"left out: {visible(', '.join(names))}, {rest}", err=True)
        refusals = model.modelfile.refusals if model.modelfile is not None else ()
        for note in (*notes_on_others(model), *refusals):
            say(visible(note), err=True)
        say_warnings(model, refusals)


def _to_jinja(template: TemplateFile, *, exact: bool, assume: tuple[str, ...]) -> Conversion:
    from transplate import to_jinja
    from transplate.models.chat_templates import begun_conversion

    model = template.model
    if model.tokens.adds_bos and model.tokens.bos:
        assume = (*assume, "bos-token")
    try:
        if model.system or model.messages:
            return begun_conversion(template.source, model, exact=exact, assume=assume)
        with naming(template.source):
            return to_jinja(template.source.text, exact=exact, assume=assume)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _to_go(template: TemplateFile, *, exact: bool, assume: tuple[str, ...]) -> Conversion:
    from transplate import to_go

    tokens = _tokens_in_go(template.model)
    try:
        with naming(template.source):
            return to_go(template.source.text, exact=exact, assume=assume, special_tokens=tokens)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _tokens_in_go(model: Model) -> dict[str, str]:
    """Return the special tokens that a TEMPLATE prints: BOS is none where Ollama's tokenizer adds it."""
    tokens = model.special_tokens
    return {**tokens, "bos_token": ""} if model.tokens.adds_bos and model.tokens.bos else tokens


def _check(template: TemplateFile, conversion: Conversion) -> ParityReport:
    from transplate import JinjaTemplate, OllamaTemplate, check_parity
    from transplate.ollama.begun import BegunTemplate
    from transplate.parity.conversations import ordinary_conversations

    model = template.model
    # SYSTEM and MESSAGEs are part of the template in Jinja, and not in Go.
    if template.language == "jinja":
        chat = JinjaTemplate(template.source.text, special_tokens=_tokens_in_go(model))
        return check_parity(chat, OllamaTemplate(conversion.text), ordinary_conversations(), explain=True)
    go = BegunTemplate(template.source.text, system=model.system, messages=model.messages)
    # What Ollama's tokenizer adds is not in what the TEMPLATE prints.
    tokens = {**model.special_tokens, "bos_token": ""}
    return check_parity(go, JinjaTemplate(conversion.text, special_tokens=tokens))


def _lines(
    conversion: Conversion, report: ParityReport, template: TemplateFile, result: str
) -> Iterator[str]:
    source = template.source.name
    yield from report_lines(unexplained(report, conversion), source, result)
    yield from explanation_lines(report, conversion)
    for assumption in conversion.assumptions:
        yield visible(f"assumes {assumption.name}: {assumption.meaning}")
    yield from _token_lines(template, conversion, report)
    for loss in conversion.losses:
        if loss.name == SPECIAL_TOKENS:
            continue
        place = "" if loss.line is None else f" ({source}:{loss.line}:{loss.column})"
        yield visible(f"may differ{loss.name and f', {loss.name}'}: {loss.message}{place}")
    tokens = template.model.tokens
    if template.language == "jinja" and tokens.adds_bos and tokens.bos:
        yield f"bos: Ollama's tokenizer adds {visible(tokens.bos)}, so the TEMPLATE does not print it"


def _token_lines(template: TemplateFile, conversion: Conversion, report: ParityReport) -> Iterator[str]:
    """Yield which special tokens a chat template needs that nothing tells, and what comes of that."""
    from transplate import JinjaTemplate

    if not any(loss.name == SPECIAL_TOKENS for loss in conversion.losses):
        return
    failing = missing_tokens(report.reasons)
    if failing:
        yield f"needs {token_options(failing)}: without it the template fails, here as in Jinja"
    known = {*failing, *template.model.special_tokens}
    names = JinjaTemplate(template.source.text).variables - known
    for name in sorted(name for name in names if name.endswith("_token")):
        is_right = ", as it should where Ollama's tokenizer adds it" if name == "bos_token" else ""
        yield f"may differ, {SPECIAL_TOKENS}: without {token_options([name])} {name} prints nothing{is_right}"


def _data(conversion: Conversion, report: ParityReport) -> dict[str, Any]:
    parity = report_data(report)
    parity["equal_as_assumed"] = unexplained(report, conversion).equal
    for data, difference in zip(parity["differences"], report.differences, strict=True):
        data["outside"] = explanations(conversion, difference)
    return {
        "text": conversion.text,
        "assumptions": [{"name": one.name, "meaning": one.meaning} for one in conversion.assumptions],
        "losses": [
            {"name": one.name, "message": one.message, "line": one.line, "column": one.column}
            for one in conversion.losses
        ],
        "parity": parity,
    }
