"""The bridge between the two template languages: what one side lacks is lowered or refused by name."""
