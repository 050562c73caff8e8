"""Options that several commands have."""

from __future__ import annotations

import click

downloading = click.option(
    "--download", is_flag=True, help="Fetch the few small files of hf:org/name where the cache has none."
)
speaking = click.option(
    "--language",
    type=click.Choice(["gotmpl", "jinja"]),
    help="The language of the template SRC, where its name and its text do not tell.",
)


def _tokens(_: click.Context, __: click.Parameter, pairs: tuple[str, ...]) -> dict[str, str]:
    if wrong := [pair for pair in pairs if not pair.partition("=")[1]]:
        raise click.BadParameter(f"{wrong[0]!r} is no NAME=TEXT")
    names = [pair.partition("=")[0] for pair in pairs]
    if wrong := [name for name in names if not name.endswith("_token")]:
        raise click.BadParameter(f"{wrong[0]!r} is no special token: their names end in _token, as eos_token")
    if any("\ud800" <= letter <= "\udfff" for pair in pairs for letter in pair):
        raise click.BadParameter("it is not UTF-8")
    return {name: text for name, _, text in (pair.partition("=") for pair in pairs)}


naming_template = click.option(
    "--chat-template", "name", metavar="NAME", help="Of named chat templates, the one to take."
)
giving_tokens = click.option(
    "--token",
    "tokens",
    metavar="NAME=TEXT",
    multiple=True,
    callback=_tokens,
    help="A special token for a chat template, such as bos_token='<s>'.",
)
