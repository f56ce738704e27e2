"""Feature extractors f: CONV-4 and CONV-5 from VERSA, ResNet-12 from TADAM."""
