"""From a distribution over the classifier's weights, p(w | D), to an answer."""
