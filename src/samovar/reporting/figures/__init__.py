"""Pictures. Each function takes what a JSON file holds and returns the bytes of a PNG."""
