"""``transplate check``: do two templates print the same prompts?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from transplate.cli import FINE, NO
from transplate.cli.files import STDIN, name_of, read_text
from transplate.cli.options import downloading
from transplate.cli.output import errors_as_json, print_json, say
from transplate.cli.requests import naming_request, read_json
from transplate.cli.templates import read_template
from transplate.cli.verdict import report_data, report_lines

if TYPE_CHECKING:
    from transplate import Conversation

_EPILOG = """\b
Examples:
  transplate check template.gotmpl chat_template.jinja
  transplate check template.gotmpl chat_template.jinja conversation.json
  transplate check old.jinja new.jinja --json
"""


@click.command("check", epilog=_EPILOG, short_help="Check that two templates print the same prompts.")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.argument("conversation_files", metavar="[CONVERSATION]...", nargs=-1)
@downloading
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@errors_as_json
def command(
    first: str, second: str, conversation_files: tuple[str, ...], download: bool, as_json: bool
) -> int:
    """Check that the templates A and B, of either language, print the same prompts.

    They are compared on the CONVERSATIONs, JSON files as for render, or else on a built-in set. Exit status 1
    means that they differ.
    """
    from transplate import check_parity

    if [first, second, *conversation_files].count(STDIN) > 1:
        raise click.UsageError("standard input ('-') can be read only once")
    a, b = (read_template(source, download=download).template for source in (first, second))
    conversations = [_read_conversation(path) for path in conversation_files] or None
    report = check_parity(a, b, conversations)
    if as_json:
        print_json(report_data(report), indent=2)
    else:
        for line in report_lines(report, first, second):
            say(line)
    return FINE if report.equal else NO


def _read_conversation(path: str) -> Conversation:
    from transplate import Conversation

    with naming_request(name_of(path)):
        conversation = Conversation.read(read_json(read_text(path)))
    return conversation if conversation.name else conversation.named(name_of(path))
