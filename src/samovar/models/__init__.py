"""Section 3 of the paper, one idea per file: feature extractors, task embedding, inference network, classifiers."""
