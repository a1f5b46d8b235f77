"""What was learned, for a person: summaries as plain data, pages and pictures made from them."""
