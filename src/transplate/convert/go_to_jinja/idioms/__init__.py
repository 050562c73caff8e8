"""What ``to_go`` writes for Python's text methods and JSON, recognised by its structure in a Go template."""
