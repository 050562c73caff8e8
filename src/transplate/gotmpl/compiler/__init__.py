"""Compiles parsed templates to Python and runs them."""
