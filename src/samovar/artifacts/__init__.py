"""A model on disk: a folder with its settings, its weights and its card; and the models that are shipped."""
