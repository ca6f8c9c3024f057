"""The decoder through torch.export, with nn.functional.interpolate."""

import torch
from decoders import SAMPLES, checked

OPERATOR = "interpolate"


def longer(x):
    return torch.nn.functional.interpolate(x, scale_factor=SAMPLES, mode="nearest")


def check(fixes_on):
    return checked(longer, fixes_on)
