"""Images as people have them, decoded with care and converted to what a model takes."""
