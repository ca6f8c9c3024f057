"""A bidirectional LSTM over sequences of several lengths: PyTorch's, and how far float32 may be."""

import numpy as np
import torch
from built import EPS
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

FEATURES, HIDDEN, LENGTHS = 2, 3, (5, 2, 4)


class Padded(torch.nn.Module):
    """Every sequence as long as the longest; the end of the others is taken for data."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.lstm = torch.nn.LSTM(FEATURES, HIDDEN, bidirectional=True, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0]


class Packed(Padded):
    """Each sequence by itself; 0 past its end."""

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        length = x.shape[1]
        return pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=length)[0]


def sequences():
    """Values below 1, and 0 past the end of each sequence: (batch, length, features)."""
    found = np.random.default_rng(0).uniform(-1, 1, (len(LENGTHS), max(LENGTHS), FEATURES))
    for row, length in enumerate(LENGTHS):
        found[row, length:] = 0
    return found.astype("float32")


def bound(lstm):
    """How far a state computed in float32 may be from the exact one, for inputs below 1.

    A state is below 1. A gate is a sum of ``FEATURES + HIDDEN + 2`` terms, and moves no further
    than its sum does; the cell's state is below the number of steps. 8 roundoffs are allowed for a
    function of the C library, and each product and sum has one.
    """
    weights = [one.detach().double().abs().numpy() for one in lstm.parameters()]
    recurrent = max(one.sum(1).max() for one in weights[1::4])
    sums = recurrent + max(one.sum(1).max() for one in weights[::4])
    sums += sum(max(one.max() for one in weights[at::4]) for at in (2, 3))
    state = cell = 0.0
    for step in range(1, max(LENGTHS) + 1):
        gate = (FEATURES + HIDDEN + 4) * EPS * sums + recurrent * state + 8 * EPS
        cell = cell + (step + 2) * gate + 3 * step * EPS
        state = gate + cell + 10 * EPS
    return state
