# How close logits of an engine are to those of a float64 computation, and what they give to the tokens that follow.
# Called by quality_test.py and bench/quality.py.
"""Divergence, error and perplexity, summed up over sequences."""

import numpy as np
from engine_logits import rows_of


def log_probabilities(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


class Reference:
    """Float64 logits of a sequence, one row for each position."""

    def __init__(self, logits):
        self.logits, self.largest = logits, np.abs(logits).max()
        self.log_probabilities = log_probabilities(logits)


class Closeness:
    """Of one engine; add() takes one sequence after the other."""

    def __init__(self):
        self.surprises = []  # negative logarithm of the probability of each token that is not the first
        self.divergences = []  # Kullback-Leibler, from the reference, of each position
        self.error = 0.0  # largest difference over the largest logit of the sequence

    def add(self, stage, tokens, reference=None):
        """`reference` is a Reference of the same tokens, or nothing."""
        begin = 0
        for rows in rows_of(stage, tokens):
            end = begin + len(rows)
            ours = log_probabilities(rows)
            following = tokens[begin + 1 : end + 1]
            self.surprises += (-ours[np.arange(len(following)), following]).tolist()
            if reference is not None:
                expected = reference.log_probabilities[begin:end]
                self.divergences += np.sum(np.exp(expected) * (expected - ours), axis=-1).tolist()
                difference = np.abs(rows - reference.logits[begin:end]).max()
                self.error = max(self.error, float(difference / reference.largest))
            begin = end

    def divergence(self):
        return float(np.mean(self.divergences))

    def perplexity(self):
        return float(np.exp(np.mean(self.surprises)))


def perplexity_difference(ours, theirs):
    """(ours / theirs - 1, its standard error), from the same tokens under both."""
    difference = np.array(ours.surprises) - np.array(theirs.surprises)
    return float(np.expm1(difference.mean())), float(difference.std() / np.sqrt(len(difference)))
