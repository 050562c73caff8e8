"""``python -m tests.renderers --write``: the templates of all renderers, made anew from their families."""

from __future__ import annotations

import argparse
import sys

from transplate.renderers import names, template_text
from transplate.renderers.compose import templates_folder


def main(arguments: list[str] | None = None) -> int:
    """Compare the shipped templates with what they are made from, or write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="Write those that differ.")
    options = parser.parse_args(arguments)
    stale = []
    for name in names():
        path = templates_folder() / f"{name}.jinja"
        text = template_text(name)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if options.write:
                path.write_text(text, encoding="utf-8", newline="\n")
    print(f"{'written' if options.write else 'stale'}: {', '.join(stale) or 'none'}")
    return 1 if stale and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
