"""What pages show of the program: ``python -m tests.console`` writes below each command what it prints."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.models.stores import lay_out_store
from tests.models.test_sources import ENTRIES, gguf
from transplate import Modelfile

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = tuple(ROOT / "docs" / name for name in ("from-a-modelfile.md", "fine-tuned.md", "pulled.md"))
AT_THE_ROOT = (README, ROOT / "docs" / "injection.md")
"""Pages whose commands run in the repository itself."""
ENVIRONMENT = {"COLUMNS": "110", "OLLAMA_MODELS": "../models"}

_BLOCK = re.compile(r"(<!-- output -->\n```console\n)(.*?)(```)", re.DOTALL)
_EXAMPLES = ROOT / "docs" / "examples"

Program = Callable[..., str]
"""Runs transplate with arguments and returns what a terminal shows."""


def shown_commands(page: Path) -> list[tuple[str, str]]:
    """Return each ``$ …`` of the blocks that are marked as output, and the output."""
    shown = []
    for _, block, _ in _BLOCK.findall(page.read_text(encoding="utf-8")):
        for command in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = command.partition("\n")
            shown.append((line, output))
    return shown


def joined(output: str, errors: str) -> str:
    """Return what a terminal shows of both streams, which starts a new line between the two."""
    return "\n".join(part.removesuffix("\n") for part in (output, errors) if part)


def prepared(page: Path, folder: Path) -> Path:
    """Return a folder as the reader of a page has it, beside a store with the model that was pulled."""
    work = folder / "work"
    work.mkdir()
    shutil.copytree(_EXAMPLES / "fine-tuned", work / "fine-tuned")
    if page.name == "from-a-modelfile.md":
        shutil.copy(_EXAMPLES / "Modelfile", work)
    modelfile = Modelfile.parse((_EXAMPLES / "Modelfile").read_bytes())
    lay_out_store(
        folder / "models",
        ("registry.ollama.ai", "library", "ada", "latest"),
        {"model_format": "gguf", "model_family": "llama"},
        {
            "model": gguf({name: value for name, value in ENTRIES.items() if "template" not in name}),
            "template": (modelfile.get("template") or "").encode(),
            "system": (modelfile.get("system") or "").encode(),
            "params": b'{"stop": ["<|im_end|>"], "temperature": 0.5, "num_ctx": 8192}',
        },
    )
    return work


def printed(line: str, program: Program) -> str:
    """Return what a command of a page prints in the working folder."""
    name, *arguments = shlex.split(line)
    match name:
        case "transplate":
            return program(*arguments)
        case "cat":
            return Path(arguments[0]).read_text(encoding="utf-8")
        case "diff":
            one, other = (Path(path).read_bytes() for path in arguments)
            return "" if one == other else "they differ"
    raise ValueError(f"no page shows {line!r}")


def _run(*arguments: str) -> str:
    command = [sys.executable, "-m", "transplate", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    return joined(done.stdout, done.stderr)


def _write(page: Path) -> None:
    def block(match: re.Match[str]) -> str:
        lines = []
        for line in match[2].splitlines():
            if line.startswith("$ "):
                lines += [line, *printed(line[2:], _run).splitlines()]
        return match[1] + "\n".join(lines) + "\n" + match[3]

    page.write_text(_BLOCK.sub(block, page.read_text(encoding="utf-8")), encoding="utf-8")


def main() -> None:
    """Write the outputs of the README and of the pages anew."""
    os.environ.update(ENVIRONMENT)
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    os.chdir(ROOT)
    for page in AT_THE_ROOT:
        _write(page)
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(prepared(page, Path(folder)))
            _write(page)
            os.chdir(ROOT)


if __name__ == "__main__":
    main()
