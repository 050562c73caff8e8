"""Measurements of this project against its peers, each one command."""
