"""Lets ``python -m transplate`` run the command line."""

from transplate.cli import main

main()
