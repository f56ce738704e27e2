"""From a protocol to numbers with intervals: run a model on many tasks, measure, compare."""
