"""Pictures. Each function takes data or results and returns the bytes of a PNG."""
