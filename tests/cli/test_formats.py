"""``transplate check`` for other programs and for browsers: annotations, JUnit, HTML; pairs of a project."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from jsonschema import Draft4Validator, FormatChecker

from tests.cli.conftest import Run

GO = "{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}\n{{ end }}<|assistant|>"
JINJA = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\n\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
WRONG = JINJA.replace("m.content", "m.content|upper")
TALK = '{"name": "%s", "messages": [{"role": "user", "content": "%s"}]}\n'


@pytest.fixture
def project(folder: Path) -> Path:
    """A project with one pair that differs on one of two conversations."""
    (folder / "a.gotmpl").write_text(GO)
    (folder / "b.jinja").write_text(WRONG.replace("\n\n", "\n"))
    (folder / "talk.jsonl").write_text(TALK % ("loud", "HI") + TALK % ("hello", "<b>Tom & Jerry</b>\\u0001"))
    return folder


@pytest.fixture
def listed(project: Path) -> Path:
    """The same, with the pair in pyproject.toml."""
    (project / "pyproject.toml").write_text(
        '[tool.transplate]\npairs = [["a.gotmpl", "b.jinja"]]\nconversations = ["talk.jsonl"]\n'
    )
    return project


PAIR = ("check", "a.gotmpl", "b.jinja", "talk.jsonl")


@pytest.mark.usefixtures("project")
def test_github(run: Run) -> None:
    result = run(*PAIR, "--format", "github")
    assert result.status == 1
    lines = result.output.splitlines()
    assert [line.partition(",")[0] for line in lines] == ["::error file=a.gotmpl", "::error file=b.jinja"]
    for line in lines:
        command = re.fullmatch(r"::error file=[\w.]+,line=\d+,col=\d+,title=([^:,]+)::(.*)", line)
        assert command
        assert "%0A" in command[2]
        assert command[2].endswith('user "Qx0"%0A- <|user|>Qx0⏎%0A+ <|user|>QX0⏎')


def test_github_of_equal_templates(run: Run, project: Path) -> None:
    (project / "b.jinja").write_text(JINJA.replace("\n\n", "\n"))
    result = run(*PAIR, "--format", "github")
    assert (result.status, result.output) == (0, "")


@pytest.mark.usefixtures("project")
def test_github_and_the_baseline(run: Run) -> None:
    run(*PAIR, "--baseline", "known.json", "--update-baseline")
    result = run(*PAIR, "--baseline", "known.json", "--format", "github")
    assert result.status == 0
    assert all(line.startswith("::notice ") for line in result.output.splitlines())
    assert result.output


@pytest.mark.usefixtures("project")
def test_junit(run: Run) -> None:
    result = run(*PAIR, "--format", "junit")
    assert result.status == 1
    root = ElementTree.fromstring(result.output)
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "0")
    failed = {case.get("name"): case.find("failure") for case in suite}
    assert failed["loud"] is None
    assert failed["hello"] is not None
    assert (failed["hello"].text or "").endswith("- <|user|>Qx0⏎\n+ <|user|>QX0⏎")
    run(*PAIR, "--baseline", "known.json", "--update-baseline")
    Path("talk.jsonl").write_text(TALK % ("odd\\u0001<&", "no"))
    odd = ElementTree.fromstring(run(*PAIR, "--format", "junit").output)
    assert [case.get("name") for case in odd.iter("testcase")] == ["odd<U+0001><&"]
    Path("talk.jsonl").write_text(TALK % ("loud", "HI") + TALK % ("hello", "<b>Tom & Jerry</b>\\u0001"))
    again = run(*PAIR, "--baseline", "known.json", "--format", "junit")
    assert again.status == 0
    (suite,) = ElementTree.fromstring(again.output)
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")


# The schema of the standard (docs.oasis-open.org/sarif/sarif/v2.1.0/errata01), without its descriptions.
_SCHEMA = json.loads(Path(__file__).with_name("sarif-schema-2.1.0.json").read_text())


def read_sarif(text: str) -> list[dict[str, Any]]:
    """Return the results of a log that the schema allows."""
    log = json.loads(text)
    Draft4Validator.check_schema(_SCHEMA)
    Draft4Validator(_SCHEMA, format_checker=FormatChecker()).validate(log)
    results: list[dict[str, Any]] = log["runs"][0]["results"]
    rules = [rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in results)
    return results


def test_sarif(run: Run, project: Path) -> None:
    result = run(*PAIR, "--format", "sarif")
    assert result.status == 1
    (found,) = read_sarif(result.output)
    assert found["level"] == "error"
    assert found["message"]["text"].endswith("- <|user|>Qx0⏎\n+ <|user|>QX0⏎")
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "b.jinja"}
    assert place["region"]["startLine"] == 1
    other = found["relatedLocations"][0]["physicalLocation"]
    assert other["artifactLocation"] == {"uri": "a.gotmpl"}

    run(*PAIR, "--baseline", "known.json", "--update-baseline")
    (known,) = read_sarif(run(*PAIR, "--baseline", "known.json", "--format", "sarif").output)
    assert (known["level"], known["baselineState"]) == ("note", "unchanged")
    (project / "b.jinja").write_text(JINJA.replace("\n\n", "\n"))
    assert read_sarif(run(*PAIR, "--format", "sarif").output) == []
    gone = run(*PAIR, "--baseline", "known.json", "--format", "sarif")
    assert gone.status == 1
    assert [each["baselineState"] for each in read_sarif(gone.output)] == ["absent"]


def test_sarif_of_a_template_in_a_modelfile(run: Run, project: Path) -> None:
    (project / "Modelfile").write_text(f'FROM no-such-model\nTEMPLATE """{GO}"""\n')
    (project / "odd name.jinja").write_text((project / "b.jinja").read_text())
    result = run("check", "Modelfile", "odd name.jinja", "talk.jsonl", "--format", "sarif")
    (found,) = read_sarif(result.output)
    assert found["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "odd%20name.jinja"}
    # The place of "{{ .Content }}" in the Modelfile, not in its TEMPLATE.
    region = found["relatedLocations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 2, "startColumn": 49}


def _check_notes(run: Run, *arguments: str, rules: list[str], level: str) -> None:
    """Check that findings in single templates come out in all formats, each rule of theirs once."""
    found = read_sarif(run(*arguments, "--format", "sarif").output)
    assert [(one["ruleId"], one["level"]) for one in found] == [(rule, level) for rule in rules]
    assert {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in found} == {
        "a.gotmpl"
    }
    lines = run(*arguments, "--format", "github").output.splitlines()
    assert [line.partition("title=")[2].partition("::")[0] for line in lines] == rules
    root = ElementTree.fromstring(run(*arguments, "--format", "junit").output)
    failed = [case.get("name") for case in root.iter("testcase") if case.find("failure") is not None]
    assert failed == list(dict.fromkeys(rules))
    assert root.get("failures") == str(len(failed))
    result = run(*arguments, "--format", "html", "--output", "page.html")
    assert result.output  # people are told, too
    page = _Page(Path("page.html").read_text(encoding="utf-8"))
    assert page.open == []
    assert all(link.startswith("#") for link in page.loaded)
    assert [text.partition(",")[0] for text in page.texts if text.partition(",")[0] in rules] == rules


@pytest.mark.usefixtures("project")
def test_all_formats_of_injection(run: Run) -> None:
    rules = ["forged-turn"] * 4
    _check_notes(run, "check", "--injection", "a.gotmpl", rules=rules, level="warning")


def test_all_formats_of_caches(run: Run, project: Path) -> None:
    (project / "a.gotmpl").write_text("{{ len .Messages }}" + GO)
    count = len(run("check", "--cache", "a.gotmpl", "--json").data["breaks"])
    assert count > 1
    _check_notes(run, "check", "--cache", "a.gotmpl", rules=["breaks-cache"] * count, level="warning")


def test_all_formats_of_lint(run: Run, project: Path) -> None:
    (project / "a.gotmpl").write_text("{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}{{ end }}")
    _check_notes(run, "lint", "a.gotmpl", rules=["no-generation-prompt"], level="error")
    (project / "Modelfile").write_text("FROM x\nPARAMETER nope 1\n")
    (refused,) = read_sarif(run("lint", "Modelfile", "--format", "sarif").output)
    assert refused["locations"][0]["physicalLocation"]["region"]["startLine"] == 2
    (project / "b.jinja").write_text(JINJA)
    root = ElementTree.fromstring(run("lint", "b.jinja", "--format", "junit").output)
    (noted,) = [case for case in root.iter("testcase") if case.find("system-out") is not None]
    assert (noted.get("name"), root.get("failures")) == ("no-generation-markers", "0")


class _Page(HTMLParser):
    """Notes tags, the texts in marks and whatever would be loaded."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.marked: list[str] = []
        self.loaded: list[str] = []
        self.texts: list[str] = []
        self.named: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href", "action")]
        self.named += [value or "" for name, value in attrs if name == "id"]
        if tag not in ("meta", "input", "br", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self.open and self.open[-1] == "mark":
            self.marked.append(data)


@pytest.mark.usefixtures("project")
def test_html(run: Run) -> None:
    result = run(*PAIR, "--format", "html", "--output", "report.html")
    assert result.status == 1
    assert "DIFFERENT" in result.output  # people are told, too
    text = Path("report.html").read_text(encoding="utf-8")
    page = _Page(text)
    assert page.open == []
    assert all(link.startswith("#") for link in page.loaded)
    assert {unquote(link[1:]) for link in page.loaded} <= {"", *page.named}
    assert len(page.named) == len(set(page.named))
    assert "http" not in text.replace("http-equiv", "")
    assert "<b>" not in text
    assert {"loud", "hello"} <= set(page.texts)
    assert (page.texts.count("✓"), page.texts.count("✗")) == (1, 1)
    assert page.marked[:2] == ["x", "X"]  # of the smallest conversation only the letters that differ
    assert "".join(page.marked[2:]) == "bomerrybBOMERRYB"


def test_html_of_nasty_names(run: Run, project: Path) -> None:
    (project / "talk.jsonl").write_text(TALK % ("<script>alert(1)</script>", "hi"))
    result = run(*PAIR, "--format", "html")
    assert "<script>alert" not in result.output
    assert "&lt;script&gt;alert" in result.output


@pytest.mark.usefixtures("listed")
def test_the_pairs_of_a_project(run: Run) -> None:
    result = run("check")
    assert result.status == 1
    assert result.output.startswith("a.gotmpl ~ b.jinja\nDIFFERENT")
    data = run("check", "--json").data
    (pair,) = data["pairs"]
    assert (pair["sources"], pair["passes"], pair["checked"]) == (["a.gotmpl", "b.jinja"], False, 2)


def test_a_project_from_a_folder_in_it(run: Run, listed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (listed / "inner").mkdir()
    monkeypatch.chdir(listed / "inner")
    assert run("check").output.startswith("../a.gotmpl ~ ../b.jinja\nDIFFERENT")


def test_a_baseline_of_a_project(run: Run, listed: Path) -> None:
    with (listed / "pyproject.toml").open("a") as file:
        file.write('baseline = "known.json"\n')
    assert run("check").status == 2
    assert run("check", "--update-baseline").status == 0
    result = run("check")
    assert result.status == 0
    assert "all of this is in the baseline" in result.output
    (listed / "b.jinja").write_text(JINJA.replace("\n\n", "\n"))
    result = run("check")
    assert result.status == 1
    assert "gone since the baseline" in result.output


@pytest.mark.usefixtures("project")
def test_bad_usage(run: Run) -> None:
    for arguments in (
        ("check",),
        ("check", "a.gotmpl"),
        (*PAIR, "--output", "x"),
        (*PAIR, "--format", "junit", "--json"),
        (*PAIR, "--format", "text"),
        (*PAIR, "--format", "html", "--output", "no/such/folder/x"),
    ):
        assert run(*arguments).status == 2, arguments


_CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_SEARCH = """<script>
  search.value = WANTED;
  search.dispatchEvent(new Event("input"));
  const parts = [...document.querySelectorAll("section, .kind, [data-of], #nothing")];
  const seen = parts.filter(one => !one.hidden);
  document.title = JSON.stringify(seen.map(one => one.id || one.dataset.of));
</script>"""


@pytest.mark.skipif(_CHROMIUM is None, reason="there is no Chromium")
@pytest.mark.parametrize(
    ("wanted", "seen"),
    [
        ("", ["pair-1", "pair-2", "pair-1", "pair-2", "pair-2-1", "pair-2-on-hello"]),
        ("other", ["pair-2", "pair-2", "pair-2-1", "pair-2-on-hello"]),
        ("QX0", ["pair-2", "pair-2", "pair-2-1"]),
        ("nowhere", ["nothing"]),
    ],
)
def test_the_page_can_be_searched(run: Run, project: Path, wanted: str, seen: list[str]) -> None:
    (project / "other.gotmpl").write_text(GO)
    (project / "other.jinja").write_text(WRONG.replace("\n\n", "\n"))
    (project / "b.jinja").write_text(JINJA.replace("\n\n", "\n"))
    pairs = '[["a.gotmpl", "b.jinja"], ["other.gotmpl", "other.jinja"]]'
    (project / "pyproject.toml").write_text(
        f'[tool.transplate]\npairs = {pairs}\nconversations = ["talk.jsonl"]\n'
    )
    text = run("check", "--format", "html").output
    (project / "page.html").write_text(text.replace("</body>", _SEARCH.replace("WANTED", json.dumps(wanted))))
    command = [
        str(_CHROMIUM),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={project / 'c'}",
    ]
    page = (project / "page.html").as_uri()
    dumped = subprocess.run([*command, "--dump-dom", page], capture_output=True, text=True, timeout=60)
    title = re.search("<title>(.*?)</title>", dumped.stdout)
    assert title, dumped.stderr
    assert json.loads(title[1]) == seen


@pytest.mark.usefixtures("project")
def test_junit_has_a_case_for_each_conversation_of_one_name(run: Run) -> None:
    Path("talk.jsonl").write_text(TALK % ("same", "Hello") + TALK % ("same", "HI") + TALK % ("same", "Ho"))
    root = ElementTree.fromstring(run(*PAIR, "--format", "junit").output)
    failed = {case.get("name"): case.find("failure") is not None for case in root.iter("testcase")}
    assert failed == {"same": True, "same (2)": False, "same (3)": True}
