"""SARIF 2.1.0, the format in which code scanning takes what tools find."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from transplate import __version__
from transplate.cli.formats.checked import Checked, details, headline, spots_of
from transplate.cli.formats.notes import Notes, Spot
from transplate.cli.visible import harmless
from transplate.parity import Kind

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(pairs: Sequence[Checked]) -> str:
    """Return the log: a rule for each cause of a difference, a result for each kind in each pair.

    A difference that is in the baseline is a note, and unchanged; any other is an error. One that is gone is
    a result that is absent.
    """
    kinds = {kind.name: kind for checked in pairs for kind in checked.report.kinds}
    gone = {name for checked in pairs if checked.change for name in checked.change.gone}
    titles = {**dict.fromkeys(gone, "Difference of the baseline"), **{k: v.title for k, v in kinds.items()}}
    names = sorted(titles)
    results = [_result(checked, kind, names) for checked in pairs for kind in checked.report.kinds]
    results += [
        {
            "ruleId": name,
            "ruleIndex": names.index(name),
            "level": "error",
            "baselineState": "absent",
            "message": {"text": harmless(f"{' and '.join(checked.sources)}: gone since the baseline")},
        }
        for checked in pairs
        for name in (checked.change.gone if checked.change else ())
    ]
    return _log(titles, results)


def sarif_of_notes(notes: Notes) -> str:
    """Return the log of what is found in single templates: a rule for each that was applied."""
    names = sorted(notes.rules)
    results = []
    for note in notes.found:
        result: dict[str, Any] = {
            "ruleId": note.rule,
            "ruleIndex": names.index(note.rule),
            "level": note.level,
            "message": {"text": harmless(note.whole)},
        }
        if note.spot.path:
            result["locations"] = [_location(note.spot)]
        results.append(result)
    return _log(notes.rules, results)


def _log(titles: Mapping[str, str], results: list[dict[str, Any]]) -> str:
    """Return the log of results whose rules are in the order of their names."""
    driver = {
        "name": "transplate",
        "version": __version__,
        "rules": [
            {"id": name, "shortDescription": {"text": harmless(titles[name])}} for name in sorted(titles)
        ],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _result(checked: Checked, kind: Kind, names: list[str]) -> dict[str, Any]:
    is_known = checked.is_known(kind)
    result: dict[str, Any] = {
        "ruleId": kind.name,
        "ruleIndex": names.index(kind.name),
        "level": "note" if is_known else "error",
        "message": {"text": f"{headline(checked, kind)}\n{details(checked, kind)}"},
        "occurrenceCount": max(1, kind.count),
    }
    if checked.change is not None:
        result["baselineState"] = "unchanged" if is_known else "new"
    spots = spots_of(checked, kind)
    if spots:
        result["locations"] = [_location(spots[-1])]
        result["relatedLocations"] = [
            {"id": number, **_location(spot)} for number, spot in enumerate(spots[:-1], 1)
        ]
    return result


def _location(spot: Spot) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(spot.path)}}
    if spot.line is not None:
        place["region"] = {"startLine": spot.line}
        if spot.column is not None:
            place["region"]["startColumn"] = spot.column
    return {"physicalLocation": place}
