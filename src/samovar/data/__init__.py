"""Data sets as memory-mapped stores, few-shot tasks as indices, batches in one gather."""
