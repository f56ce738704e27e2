"""Users' images, decoded safely and converted to what a model takes."""
