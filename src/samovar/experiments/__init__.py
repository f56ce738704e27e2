"""The paper's experiments and some of our own: one file each, found by name through `registry`."""
