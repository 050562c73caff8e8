"""Seeded generators of conversations and templates, and the programs that compare us with real engines."""
