"""Section 4.1 of the paper, the one place where the true posterior is known."""
