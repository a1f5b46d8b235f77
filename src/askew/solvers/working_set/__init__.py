"""The working-set method: rows of K computed as they are needed."""
