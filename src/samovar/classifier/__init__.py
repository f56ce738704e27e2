"""The scikit-learn face: a few labelled images in, a classifier with honest probabilities out."""
