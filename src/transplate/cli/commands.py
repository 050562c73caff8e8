"""The command ``transplate`` and its subcommands, each loaded when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from io import StringIO
from pathlib import Path

import click

from transplate.cli import BAD
from transplate.cli.files import STDIN
from transplate.cli.output import print_json, say, show_error
from transplate.errors import ErrorKind, TransplateError
from transplate.files import reason

_COMMANDS = ("render", "convert", "check", "lint", "suggest")
_INSPECT = "inspect"
"""Stands for no command at all: a file alone is described."""

_EPILOG = """\b
Examples:
  transplate render template.gotmpl -m "Why is the sky blue?"
  transplate convert template.gotmpl chat_template.jinja
  transplate check template.gotmpl chat_template.jinja
  transplate template.gotmpl

'-' stands for standard input. Exit status: 0 fine, 1 the answer is no (the templates differ, the template
cannot be converted), 2 bad usage or bad input. NO_COLOR turns colours off.
"""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in (*_COMMANDS, _INSPECT):
            return None
        command: click.Command = import_module(f"transplate.cli.{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in _COMMANDS:
            return super().resolve_command(ctx, args)
        if not _is_source(name):
            import difflib

            close = difflib.get_close_matches(name, _COMMANDS, 1)
            pull = (
                f", and no model in Ollama's store (ollama pull {name} fetches it)" if _can_name(name) else ""
            )
            hint = f"; did you mean {close[0]!r}?" if close else pull
            raise click.UsageError(f"no such command or file: {name!r}{hint}", ctx)
        return "", self.get_command(ctx, _INSPECT), args


def _is_source(name: str) -> bool:
    """Return whether an argument can be read from, at least by its looks."""
    prefixes = ("http://", "https://", "ollama:", "hf:", "renderer:")
    if name == STDIN or name.startswith(prefixes) or Path(name).exists():
        return True
    from transplate.ollama.store import is_stored

    return is_stored(name)


def _can_name(name: str) -> bool:
    """Return whether Ollama can have a model of this name."""
    from transplate.ollama.store import ModelName

    try:
        return bool(ModelName.parse(name))
    except TransplateError:
        return False


def _print_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from transplate import __version__

        click.echo(f"transplate {__version__}")
        ctx.exit()


@click.group(
    cls=_Commands,
    epilog=_EPILOG,
    subcommand_metavar="COMMAND … | SOURCE",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def _transplate() -> None:
    """Ollama's Go templates and Hugging Face's Jinja chat templates, interchangeable.

    SOURCE alone says what a template is.
    """


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit status."""
    try:
        return _run(arguments)
    except OSError as error:
        # What the commands read and write by name has errors of its own: this is a standard stream.
        with suppress(OSError):
            show_error(TransplateError(f"standard output: {reason(error)}"))
        for stream in (sys.stdout, sys.stderr):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return BAD


def _run(arguments: Sequence[str]) -> int:
    try:
        return int(_transplate.main(list(arguments), "transplate", standalone_mode=False) or 0)
    except click.ClickException as error:
        if "--json" in arguments:
            print_json({"error": error.format_message(), "kind": ErrorKind.INPUT.value})
        shown = StringIO()
        error.show(shown)
        say(shown.getvalue().rstrip("\n"), err=True)
        return BAD
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except TransplateError as error:
        return show_error(error)
