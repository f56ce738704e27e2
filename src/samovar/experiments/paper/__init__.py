"""The experiments of the paper, one file for each table or figure."""
