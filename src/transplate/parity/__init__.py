"""Comparing two templates on the same conversations."""
