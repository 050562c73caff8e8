"""``transplate convert``: a template to the other language, a model to another kind of files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import click

from transplate.cli import FINE, NO
from transplate.cli.explained import explanation_lines, explanations, unexplained
from transplate.cli.files import STDOUT
from transplate.cli.options import downloading, speaking
from transplate.cli.output import errors_as_json, print_exactly, print_json, say
from transplate.cli.templates import TemplateFile, read_model, template_of
from transplate.cli.verdict import report_data, report_lines
from transplate.errors import naming
from transplate.files import write_file
from transplate.language import Language, language_of_name

if TYPE_CHECKING:
    from transplate import Conversion, Model, ParityReport

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
of a request before any template sees it.
"""


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
    help="Take something more for granted: hf-json, bos-token, llama-server, …",
)
@click.option("--from", "model_base", metavar="MODEL", help="With a Modelfile as DST: what FROM says.")
@click.option("--base", metavar="GGUF", help="Write DST as a copy of this GGUF with the chat template SRC.")
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
@click.option("--force", is_flag=True, help="Where DST is a whole model: replace what is there and differs.")
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
    from transplate.cli.models import target_of, write_model

    if destination == STDOUT:
        destination = None
    if base is None and destination is not None and destination.lower().endswith(".gguf"):
        raise click.UsageError(f"{destination}: a GGUF is written as a copy of another, which --base names")
    if base is not None:
        from transplate.cli.gguf import write_gguf

        if destination is None or not destination.lower().endswith(".gguf"):
            raise click.UsageError("--base needs a DST that is the new GGUF, such as new.gguf")
        return write_gguf(
            read_model(source, language=language), destination, base, dry_run=dry_run, force=force
        )
    if target in ("hf", "modelfile", "hub") and destination is None:
        raise click.UsageError(f"--to {target} needs a DST to write to")
    model = read_model(source, download=download, language=language)
    whole = target if target in ("hf", "modelfile", "hub") else None
    if destination is not None and target is None:
        whole = target_of(model, destination)
    if whole is not None and destination is not None:
        return write_model(
            model, destination, whole, base=model_base, dry_run=dry_run, force=force, as_json=as_json
        )
    if model_base is not None:
        raise click.UsageError("--from is for a Modelfile as DST")
    named = language_of_name(destination) if destination else None
    if target and named and target != named:
        raise click.UsageError(f"--to {target} and the name {destination} do not go together")
    if model.renderer and (target or named) != "gotmpl":
        return _write_own(model, "jinja", destination, dry_run=dry_run, as_json=as_json)
    template = template_of(model)
    if (target or named) == template.language:
        if model.kind in ("Go template", "chat template"):
            raise click.UsageError(f"{template.source.name} is a {template.language} template already")
        return _write_own(model, template.language, destination, dry_run=dry_run, as_json=as_json)
    convert = _to_go if template.language == "jinja" else _to_jinja
    conversion = convert(template, exact=exact, assume=assume)
    report = _check(template, conversion)
    if destination is not None and not dry_run:
        write_file(destination, conversion.text.encode())
    if as_json:
        print_json(_data(conversion, report), indent=2)
    else:
        if destination is None:
            print_exactly(conversion.text.encode())
        for line in _lines(conversion, report, template, destination or "the result"):
            say(line, err=True)
        if destination is not None:
            say(f"{'would write' if dry_run else 'wrote'} {destination}", err=True)
    return NO if unexplained(report, conversion).differences else FINE


def _write_own(
    model: Model, language: Language, destination: str | None, *, dry_run: bool, as_json: bool
) -> int:
    """Write the template of a model as it is; of a RENDERER, the chat template that stands for it."""
    from transplate.models.prompts import chat_template_of, counting_template

    text = chat_template_of(model).text if language == "jinja" else counting_template(model)[0].text
    if destination is not None and not dry_run:
        write_file(destination, text.encode())
    if as_json:
        print_json({"text": text, "renderer": model.renderer}, indent=2)
        return FINE
    if destination is None:
        print_exactly(text.encode())
    elif model.renderer:
        written = "would write" if dry_run else "wrote"
        say(f"{written} {destination}: the prompts of Ollama's renderer {model.renderer}", err=True)
    else:
        say(f"{'would write' if dry_run else 'wrote'} {destination}, without any conversion", err=True)
    if language == "gotmpl" and (left_out := _left_out(model)):
        say(left_out, err=True)
    return FINE


def _left_out(model: Model) -> str:
    """Return what a Go template cannot have of the model that it is of, in one line; empty for nothing."""
    names = [name for name, value in (("SYSTEM", model.system), ("MESSAGE", model.messages)) if value]
    if not names:
        return ""
    return f"left out: {', '.join(names)}, no part of a TEMPLATE (a Modelfile as DST keeps all of it)"


def _to_jinja(template: TemplateFile, *, exact: bool, assume: tuple[str, ...]) -> Conversion:
    from transplate import to_jinja
    from transplate.models.prompts import begun_conversion

    try:
        if _begins(template.model):
            return begun_conversion(template.source, template.model, exact=exact, assume=assume)
        with naming(template.source):
            return to_jinja(template.source.text, exact=exact, assume=assume)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _to_go(template: TemplateFile, *, exact: bool, assume: tuple[str, ...]) -> Conversion:
    from transplate import to_go

    try:
        with naming(template.source):
            return to_go(template.source.text, exact=exact, assume=assume)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _check(template: TemplateFile, conversion: Conversion) -> ParityReport:
    from transplate import JinjaTemplate, OllamaTemplate, check_parity
    from transplate.ollama.begun import BegunTemplate
    from transplate.parity.conversations import ordinary_conversations

    # A model's special tokens are no part of either side; SYSTEM and MESSAGEs are, in Jinja.
    if template.language == "jinja":
        sides = JinjaTemplate(template.source.text), OllamaTemplate(conversion.text)
        return check_parity(*sides, ordinary_conversations(), explain=True)
    go = BegunTemplate(template.source.text, system=template.model.system, messages=template.model.messages)
    return check_parity(go, JinjaTemplate(conversion.text))


def _begins(model: Model) -> bool:
    return bool(model.system or model.messages)


def _lines(
    conversion: Conversion, report: ParityReport, template: TemplateFile, result: str
) -> Iterator[str]:
    source = template.source.name
    yield from report_lines(unexplained(report, conversion), source, result)
    yield from explanation_lines(report, conversion)
    for assumption in conversion.assumptions:
        yield f"assumes {assumption.name}: {assumption.meaning}"
    for loss in conversion.losses:
        place = "" if loss.line is None else f" ({source}:{loss.line}:{loss.column})"
        yield f"may differ{loss.name and f', {loss.name}'}: {loss.message}{place}"
    if template.language == "jinja" and (left_out := _left_out(template.model)):
        yield left_out


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
