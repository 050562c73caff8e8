"""Whole models, from every place where templates live: a path, name or address in, a :class:`Model` out."""

from transplate.models.model import Model, Tokens

__all__ = ["Model", "Tokens"]
