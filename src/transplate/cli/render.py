"""``transplate render``: a template and a request to the prompt."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import click

from transplate.cli import FINE
from transplate.cli.files import STDIN, name_of, read_text
from transplate.cli.options import downloading, giving_tokens, naming_template, speaking
from transplate.cli.output import errors_as_json, print_exactly, print_json, say
from transplate.cli.requests import (
    EXAMPLE,
    calls_left_out,
    naming_request,
    read_json,
    read_request,
    request_of_texts,
    with_options,
)
from transplate.cli.templates import read_template
from transplate.cli.tokens import token_hint
from transplate.cli.visible import visible
from transplate.errors import TransplateError
from transplate.language import Language

_EPILOG = """\b
Examples:
  transplate render template.gotmpl
  transplate render template.gotmpl request.json
  transplate render chat_template.jinja -s "Be brief." -m "Why is the sky blue?" --think high
  ollama show --template llama3.2 | transplate render - request.json
  transplate render template.gotmpl --jsonl requests.jsonl > prompts.jsonl
"""


def _think(_: click.Context, __: click.Parameter, word: str | None) -> bool | str | None:
    return {"true": True, "false": False}.get(word, word) if word is not None else None


@click.command("render", epilog=_EPILOG, short_help="Print the prompt that a template makes of a request.")
@click.argument("source", metavar="SRC")
@click.argument("request_file", metavar="[REQUEST]", required=False)
@click.option(
    "-m",
    "--message",
    "texts",
    metavar="TEXT",
    multiple=True,
    help="What the user says; given again, what the assistant answers, and so on in turn.",
)
@click.option("-s", "--system", metavar="TEXT", help="System prompt, where the messages have none.")
@click.option("--tools", "tools_file", metavar="FILE", help="Tools, as a JSON list.")
@click.option(
    "--think", callback=_think, metavar="WORD", help="true, false, or a level: low, medium, high, max."
)
@click.option(
    "--jsonl",
    "lines_file",
    metavar="FILE",
    help='Render many: a request a line in, a {"prompt"} or {"error"} a line out.',
)
@naming_template
@giving_tokens
@click.option(
    "--generation-prompt/--no-generation-prompt",
    default=None,
    help="Whether a chat template opens the assistant's turn; by default unless the last message is one.",
)
@speaking
@downloading
@click.option("--json", "as_json", is_flag=True, help='Print {"prompt"} or {"error"} as JSON.')
@errors_as_json
def command(
    source: str,
    request_file: str | None,
    texts: tuple[str, ...],
    system: str | None,
    tools_file: str | None,
    think: bool | str | None,
    lines_file: str | None,
    name: str | None,
    tokens: dict[str, str],
    generation_prompt: bool | None,
    language: Language | None,
    download: bool,
    as_json: bool,
) -> int:
    """Print the prompt that the template SRC makes of a request, byte for byte.

    REQUEST is a JSON file: a body of Ollama's /api/chat or /api/generate, or a list of messages; messages as
    only OpenAI's API takes them (typed parts, arguments as text) are read as Ollama does there. A date,
    documents and variables are taken as by check. Without it and without -m, a short example conversation is
    rendered.
    """
    if sum(map(bool, (request_file, texts, lines_file))) > 1:
        raise click.UsageError("give a REQUEST, or -m, or --jsonl, and not two of them")
    if [source, request_file, tools_file, lines_file].count(STDIN) > 1:
        raise click.UsageError("standard input ('-') can be read only once")
    template = read_template(source, download=download, language=language, name=name, tokens=tokens)
    tools = None if tools_file is None else read_json(read_text(tools_file))
    complete = partial(
        with_options, system=system, tools=tools, think=think, generation_prompt=generation_prompt
    )
    if lines_file is not None:
        from transplate.cli.jsonl import render_lines

        return render_lines(lines_file, lambda line: template.render(complete(read_request(line))))
    # The example's own system message gives way to one from the command line.
    request = EXAMPLE if system is None else replace(EXAMPLE, messages=EXAMPLE.messages[1:])
    if request_file is not None:
        request = read_request(read_text(request_file))
    elif texts:
        request = request_of_texts(texts)
    try:
        with naming_request(request_file and name_of(request_file)):
            prompt = template.render(complete(request))
    except TransplateError as error:
        if hint := token_hint([error.message]):
            error.add_note(hint)
        raise
    if calls := calls_left_out(request.messages, prompt.decode("utf-8", "replace")):
        is_cut = template.language == "jinja" and generation_prompt is None
        hint = "; --no-generation-prompt shows what the template makes of them" if is_cut else ""
        warning = f"the calls of the last message are not in the prompt: {', '.join(calls)}{hint}"
        say(click.style("warning: ", fg="yellow") + visible(warning), err=True)
    if as_json:
        print_json({"prompt": prompt.decode("utf-8", "replace")})
    else:
        print_exactly(prompt)
    return FINE
