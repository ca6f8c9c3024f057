"""Operators on tensors with a static dimension 0."""

from tvm import relax

from tests.fixes import whole_programs as whole

OP = relax.op


PROGRAMS: whole.Programs = {
    "empty_tensors": {
        "means": (whole.upstream("empty_tensors", "the_mean_of_nothing"),),
        "splits": (whole.upstream("empty_tensors", "a_split_of_nothing"),),
        "indices": (whole.upstream("empty_tensors", "no_indices"),),
        "circular pads": (whole.upstream("empty_tensors", "nothing_around_nothing"),),
    },
}

CURES: whole.Cures = {
    "circular-pad-of-nothing": (("empty_tensors", "circular pads"),),
    "gather-of-nothing": (("empty_tensors", "indices"),),
    "split-of-nothing": (("empty_tensors", "splits"),),
}
