"""The paper's experiments, one short file per table or figure."""
