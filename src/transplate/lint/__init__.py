"""Mistakes in one template that users really make, each found by rendering conversations."""

from transplate.lint.finding import Finding as Finding
from transplate.lint.finding import Rule as Rule
from transplate.lint.linting import RULES as RULES
from transplate.lint.linting import lint as lint
