"""Go's own tests of text/template, read from the installed Go: our engine and real Go on the same JSON data.

A row *applies* where real Go, on what JSON can say of the row's data, still gives what Go's test expects;
the others (methods, other number types, channels) are compared with real Go all the same.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from functools import lru_cache
from typing import Any

import pytest

from tests import plain_subject
from tests.oracle.ollama import Answer, GoOracle, build_program


@lru_cache(maxsize=1)
def rows() -> list[dict[str, Any]]:
    """Return the rows of all tables of Go's tests."""
    root = subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isfile(os.path.join(root, "src", "text", "template", "exec_test.go")):
        pytest.skip("this Go comes without its tests")
    program = build_program("./gotests", name="gotests")
    environment = {**os.environ, "GOROOT": root}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def template_of(row: dict[str, Any]) -> str | None:
    """Return the template that a row's test parses, None if it has none."""
    fields = row["fields"]
    if row["table"] == "cmpTests":
        return f"{{{{if {fields['expr']}}}}}true{{{{else}}}}false{{{{end}}}}"
    if row["table"] == "numberTests":
        return f"{{{{print {fields['text']}}}}}"
    if row["table"] == "JSEscaping":
        return "{{js .}}"
    return next((fields[key] for key in ("input", "src", "text") if key in fields), None)


def data_of(row: dict[str, Any]) -> Any:
    """Return the data that a row's test executes its template on, as far as JSON can say it."""
    fields = row["fields"]
    return fields.get("data", fields.get("value", fields.get("in", row.get("data"))))


def applies(row: dict[str, Any], real: Answer) -> bool:
    """Return whether real Go on JSON data gives what Go's own test expects."""
    fields = row["fields"]
    if "wantErr" in fields:
        return fields["wantErr"] in (real.error or "")
    if row["table"] == "numberTests":
        kinds = ("isInt", "isUint", "isFloat", "isComplex")
        return any(fields.get(kind) for kind in kinds) is (real.stage != "parse")
    if row["file"] in {"parse_test.go", "lex_test.go"}:
        return fields.get("ok", real.stage != "parse") is (real.stage != "parse")
    wanted = next((fields[key] for key in ("output", "truth", "out", "exp", "want") if key in fields), None)
    if fields.get("ok") is False:
        return real.error is not None
    if isinstance(wanted, str) and wanted.startswith("ERROR: "):
        return wanted.removeprefix("ERROR: ") in (real.error or "")
    return real.error is None and real.output.decode() == wanted


def test_gos_own_tests(go_oracle: GoOracle, capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    applied: Counter[str] = Counter()
    differences = []
    for row in rows():
        source = template_of(row)
        if source is None:
            continue
        table = f"{row['file']} {row['table']}"
        data = data_of(row)
        (real,) = go_oracle.text(source, [data])
        found = plain_subject.render(source, data)
        counts[table] += 1
        applied[table] += applies(row, real)
        if found == real:
            agreed[table] += 1
        else:
            differences.append(f"{table} line {row['line']}: {source!r}\n  Go {real}\n  we {found}")
    lines = [
        f"{table}: {counts[table]} rows, {applied[table]} apply, {agreed[table]} agree with real Go"
        for table in counts
    ]
    with capsys.disabled():
        print("\nGo's own tests: " + "\n  ".join(["", *lines]))
        print(f"  {counts.total()} rows, {applied.total()} apply, {agreed.total()} agree")
    assert counts.total() > 600
    assert not differences, "\n".join(differences)
