"""The evidence that a bisection has for the pass that it names."""

import enum


class Evidence(enum.StrEnum):
    """The evidence for a culprit.

    ``EMIT``: TVM refuses the program while it is built, before any pass. ``PREFIX``: with the
    passes up to this one it fails, with those before it, it is right. ``RAISED``: even the shortest
    way fails, in this pass. ``DIRECT``: even the shortest way is wrong, and so are the functions
    that this pass makes, each built by itself and called; their code generation is not separated
    from it, unless those of the pass before are right. ``FIXED``: fixes that are on while some
    passes run, and off for the others, single this one out. ``ILL_FORMED``: TVM's ``well_formed``
    refuses the module after this pass as the first, and without it a later error does not come.
    """

    NONE = "none"
    EMIT = "emit"
    PREFIX = "prefix"
    RAISED = "raised"
    DIRECT = "direct"
    FIXED = "fixed"
    ILL_FORMED = "ill-formed"
