"""JUnit's XML, which most CI systems show: a suite for each pair, a case for each conversation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from transplate.cli.formats.checked import Checked, details
from transplate.cli.formats.notes import Notes
from transplate.cli.visible import harmless
from transplate.parity import Difference, Kind

_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(pairs: Sequence[Checked]) -> str:
    """Return the document.

    A conversation that differs is a failure, or skipped where all of its causes are in the baseline; one that
    could not be compared is skipped. What has no name was made for the comparison.
    """
    root = Element("testsuites", name="transplate check")
    for checked in pairs:
        _add_suite(root, checked)
    return _document(root)


def junit_of_notes(notes: Notes) -> str:
    """Return the document of what is found in single templates: a case for each rule."""
    root = Element("testsuites", name=_clean(notes.command))
    for source in notes.sources:
        suite = SubElement(root, "testsuite", name=_clean(source))
        for rule in notes.rules:
            case = SubElement(suite, "testcase", classname=_clean(source), name=_clean(rule))
            found = [note for note in notes.found if (note.source, note.rule) == (source, rule)]
            failing = [note for note in found if note.level != "note"]
            for note in failing:
                failure = SubElement(case, "failure", message=_clean(note.message))
                line = f"{note.spot.path}:{note.spot.line}\n" if note.spot.line else ""
                failure.text = _clean(f"{line}{note.text or note.message}")
            if found and not failing:
                SubElement(case, "system-out").text = _clean("\n".join(note.message for note in found))
        _count(suite)
    return _document(root)


def _document(root: Element) -> str:
    for name in ("tests", "failures", "skipped"):
        root.set(name, str(sum(int(suite.get(name, 0)) for suite in root)))
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _add_suite(root: Element, checked: Checked) -> None:
    name = _clean(" ~ ".join(checked.sources))
    suite = SubElement(root, "testsuite", name=name)
    report = checked.report
    kinds = {kind.name: kind for kind in report.kinds}
    differing = {one.conversation.name: one for one in report.differences if one.conversation.name}
    names = dict.fromkeys((*checked.conversations, *report.refused, *differing))
    for conversation in names:
        case = SubElement(suite, "testcase", classname=name, name=_clean(conversation))
        if conversation in differing:
            _add_difference(case, checked, differing[conversation], kinds)
        elif conversation in report.refused:
            SubElement(case, "skipped", message="no prompt to compare")
    made = [one for one in report.differences if not one.conversation.name]
    for number, difference in enumerate(made, 1):
        case = SubElement(suite, "testcase", classname=name, name=f"made conversation {number}")
        _add_difference(case, checked, difference, kinds)
    if checked.change is not None:
        for gone in checked.change.gone:
            case = SubElement(suite, "testcase", classname=name, name=_clean(f"baseline: {gone}"))
            SubElement(case, "failure", message="gone since the baseline")
    if not report.checked:
        case = SubElement(suite, "testcase", classname=name, name="comparison")
        SubElement(case, "failure", message="there is no conversation on which both could be compared")
    _count(suite)


def _count(suite: Element) -> None:
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in suite)))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))


def _add_difference(case: Element, checked: Checked, difference: Difference, kinds: dict[str, Kind]) -> None:
    causes = [kinds[cause] for cause in difference.causes if cause in kinds]
    if causes and all(checked.is_known(kind) for kind in causes):
        SubElement(case, "skipped", message=_clean(f"in the baseline: {difference.cause}"))
        return
    failure = SubElement(case, "failure", message=_clean(difference.cause))
    failure.text = _clean("\n\n".join(f"{kind.title}\n{details(checked, kind)}" for kind in causes))


def _clean(text: str) -> str:
    """Return a text with what XML cannot hold, and what acts on those who print it, made visible."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", harmless(text))
