"""Looks for every mistake that there is a rule for: a model in, what is wrong with its template out."""

from __future__ import annotations

from collections.abc import Collection

from transplate.errors import TransplateError, naming
from transplate.language import Language
from transplate.lint import branches, failures, hosts, settings, thinking, tools, turns, white_space
from transplate.lint.finding import Fault, Finding, Rule
from transplate.lint.subject import Subject
from transplate.models import Model
from transplate.models.prompts import counting_template
from transplate.ollama.versions import parse_version
from transplate.source import Source

_OF_TEMPLATES: dict[str, Rule[Subject]] = {
    rule.name: rule
    for module in (tools, thinking, turns, failures, white_space, branches, hosts)
    for rule in module.RULES
}
RULES: dict[str, Rule[Subject] | Rule[Model]] = {
    **_OF_TEMPLATES,
    **{rule.name: rule for rule in settings.RULES},
}
"""All rules by name."""


def lint(model: Model, *, ignore: Collection[str] = (), ollama: str | None = None) -> list[Finding]:
    """Return the mistakes in the template of a model, in the order of the template.

    Of a model with two templates it is the one that Ollama runs. A renderer that is built into Ollama is not
    looked at; a TEMPLATE beside it is never run, which is a mistake of its own. A Modelfile or folder may be
    without a template.

    Args:
        model: The model, or the template alone.
        ignore: The names of rules that are not applied.
        ollama: The oldest version of Ollama that it has to work with; that of REQUIRES if None.

    Raises:
        TransplateError: A template is missing, or a rule or version that is not known is named.
        TemplateSyntaxError: The template is refused by its own engine.

    Example:
        >>> [finding.rule for finding in lint(Model.load("chat_template.jinja"))]  # doctest: +SKIP
        ['no-generation-markers']
    """
    unknown = sorted(set(ignore) - RULES.keys())
    if unknown:
        raise TransplateError(f"no such rule: {', '.join(unknown)}; there are {', '.join(RULES)}")
    if ollama is not None:
        parse_version(ollama)
    found = [
        _finding(rule, fault, model.modelfile.source if model.modelfile else Source("", model.name))
        for rule in settings.RULES
        if rule.name not in ignore
        for fault in rule.check(model)
    ]
    found += _in_template(model, ignore, ollama)
    return sorted(found, key=lambda finding: (finding.line or 0, finding.column or 0))


def _in_template(model: Model, ignore: Collection[str], ollama: str | None) -> list[Finding]:
    if _is_empty(model):
        return []
    rules = [rule for rule in _OF_TEMPLATES.values() if rule.name not in ignore]
    language: Language = "gotmpl"
    if model.renderer:
        if model.template is None:
            return []
        source = model.template
        rules = [rule for rule in rules if rule.name == "template-not-run"]
    else:
        source, language = counting_template(model)
    with naming(source):
        subject = Subject(model, source, language, ollama=ollama)
    return [_finding(rule, fault, source) for rule in rules for fault in rule.check(subject)]


def _is_empty(model: Model) -> bool:
    """Return whether there is no template, as in many a Modelfile and beside many a tokenizer."""
    is_whole = model.kind in ("Modelfile", "Hugging Face folder")
    return is_whole and not model.renderer and model.template is None and model.chat_template is None


def _finding(rule: Rule[Subject] | Rule[Model], fault: Fault, source: Source) -> Finding:
    offset, source = fault.offset, fault.source or source
    if offset is None:
        return Finding(rule.name, rule.level, fault.message, source.name)
    line, column = source.position(offset)[:2]
    return Finding(rule.name, rule.level, fault.message, source.name, line, column, source.line_at(offset))
