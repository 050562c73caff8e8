"""What can be changed about a conversation to see whether a difference goes away: the experiments."""

from transplate.parity.experiments.base import SENTINEL, Change
from transplate.parity.experiments.catalogue import COARSE, GENTLE
from transplate.parity.experiments.features import without_variable
from transplate.parity.experiments.texts import plain_texts

__all__ = ["COARSE", "GENTLE", "SENTINEL", "Change", "plain_texts", "without_variable"]
