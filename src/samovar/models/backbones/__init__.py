"""Feature extractors f: CONV-4 and CONV-5 as VERSA has them, ResNet-12 as TADAM has it."""
