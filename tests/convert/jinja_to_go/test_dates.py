"""``strftime_now`` in Go, on days that are hard to tell."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

import pytest

from tests.oracle.engines import TransformersEngine
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle
from transplate.convert import to_go
from transplate.errors import TemplateExecutionError
from transplate.jinja import JinjaTemplate
from transplate.ollama import OllamaTemplate, Values

MESSAGES = [{"role": "user", "content": "Hi"}]
FORM = "%A %a|%B %b %h|%d %-d %e|%m %-m|%Y %y|%F %D %x|100%% %%F"
SOURCE = f"{{{{ strftime_now('{FORM}') }}}}{{{{ messages[0].content }}}}"
HARD = [
    *(datetime(year, 2, 28) + timedelta(days) for year in (2000, 2001, 2004, 2099) for days in (0, 1, 2)),
    *(datetime(year, month, day) for year in (2000, 2024, 2026, 2099) for month, day in ((1, 1), (12, 31))),
]


def test_dates_are_written_as_in_python() -> None:
    template, jinja = OllamaTemplate(to_go(SOURCE, exact=True).text), JinjaTemplate(SOURCE)
    rng = Random(1)
    days = [*HARD, *(datetime(2000, 1, 1) + timedelta(rng.randrange(36525)) for _ in range(100))]
    for day in days:
        wanted = jinja.render(MESSAGES, None, add_generation_prompt=True, now=day)
        assert template.execute(Values(MESSAGES), now=day) == wanted


def test_real_ollama_writes_dates_as_transformers_does(
    go_oracle: GoOracle, transformers_engine: TransformersEngine
) -> None:
    text = to_go(SOURCE, exact=True, ollama=OLLAMA_VERSION).text
    for day in HARD[::3]:
        wanted = transformers_engine.apply_chat_template(SOURCE, MESSAGES, now=day).text
        (found,) = go_oracle.render_all(text, [{"messages": MESSAGES}], now=day)
        assert found.output.decode() == wanted


@pytest.mark.parametrize("year", [1999, 2100])
def test_a_weekday_of_another_century_stops(year: int) -> None:
    template = OllamaTemplate(to_go("{{ strftime_now('%A') }}{{ messages[0].content }}").text)
    with pytest.raises(TemplateExecutionError, match="the day of the week before 2000"):
        template.execute(Values(MESSAGES), now=datetime(year, 5, 1))
