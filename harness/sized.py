"""Expressions as sizes of tensors: of those that a function is given, and of those that it makes.

What comes of sizes that no tensor has is asked as well: a tensor of another size than a parameter's
has to be refused, by an error that tells both sizes; so has a negative extent.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from generators.algebra_case import ExpressionCase
from generators.expression_cases import EXTENT, PARAMETER
from harness import kernels
from harness.blame import is_of_tvm
from harness.errors import headline, tells, told
from harness.fault import RAISES, Fault
from harness.kernel_plans import (
    CALLS,
    Plan,
    negative_points,
    other_sizes,
    shape_plan,
    tensor_points,
)

Faults = tuple[Fault, ...]
Sizes = Sequence[int]

ACCEPTED, UNTOLD = f"{PARAMETER}-accepted", f"{PARAMETER}-untold"
"""The checks that a tensor of another size is refused, and that the error tells the sizes."""


class Refused(Exception):
    """That ``fault`` is what is wrong, where there is one plan; else with one of them."""

    def __init__(self, fault: Fault):
        super().__init__(fault.message)
        self.fault = fault


def parameters(plans: Sequence[Plan], how: kernels.How) -> list[Faults]:
    """What is wrong with each of ``plans`` as the size of a parameter of one function.

    Raises:
        Refused: tensors of the right sizes are refused.
        Exception: TVM raises in compiling it.
    """
    main = kernels.parameters_built(kernels.named(plans), how)
    chosen = [tensor_points(one) for one in plans]
    for call in range(CALLS):
        at = [int(own[call % len(own)]) for own in chosen]
        sizes = [int(one.wanted[point]) for one, point in zip(plans, at, strict=True)]
        try:
            main(given(plans, at), sizes)
        except Exception as error:
            if not is_of_tvm(error):
                raise
            said = f"a tensor of {sizes[0]} is refused: {headline(str(error))}"
            raise Refused(_fault(PARAMETER, plans[0], at[0], said)) from error
    first = [int(own[0]) for own in chosen]
    sizes = [int(one.wanted[point]) for one, point in zip(plans, first, strict=True)]
    found: list[Faults] = []
    for number, one in enumerate(plans):
        faults = _others(one, _of_one(main, plans, first, sizes, number))
        found.append(tuple(faults)[:1])
    return found


def _of_one(
    main: kernels.OfSizes, plans: Sequence[Plan], at: Sequence[int], sizes: Sizes, number: int
) -> Callable[[int, int], None]:
    """``main`` as a function of the point and the size of one of ``plans``, the others as given."""

    def call(point: int, size: int) -> None:
        points, all_sizes = list(at), list(sizes)
        points[number], all_sizes[number] = point, size
        main(given(plans, points), all_sizes)

    return call


def _others(plan: Plan, call: Callable[[int, int], None]) -> Iterator[Fault]:
    """What is wrong where a tensor has another size than the parameter."""
    for point, size in other_sizes(plan):
        right = int(plan.wanted[point])
        try:
            call(point, size)
        except Exception as error:
            if not is_of_tvm(error):
                raise
            if not tells(str(error), (right, size)):
                said = f"a tensor of {size} is refused by what does not say so: "
                yield _fault(UNTOLD, plan, point, said + headline(str(error)))
            continue
        yield _fault(ACCEPTED, plan, point, f"a tensor of {size} is accepted")


def extents(plans: Sequence[Plan], how: kernels.How) -> list[Faults]:
    """What is wrong with each of ``plans`` as the extent of a tensor that one function makes.

    Raises:
        Exception: TVM raises.
    """
    main = kernels.extents_built(kernels.named(plans), how)
    chosen = [tensor_points(one) for one in plans]
    found: list[Faults] = [()] * len(plans)
    for call in range(CALLS):
        at = [int(own[call % len(own)]) for own in chosen]
        made = main(given(plans, at))
        for number, (one, point) in enumerate(zip(plans, at, strict=True)):
            if made[number] != int(one.wanted[point]) and not found[number]:
                said = f"the tensor has {made[number]}"
                found[number] = (_fault(EXTENT, one, point, said),)
    return found


def negative_extent(subject: ExpressionCase, how: kernels.How) -> Faults | None:
    """What is wrong where ``subject`` is the extent of a tensor and negative.

    It has to be an error that tells the extent. What is negative wherever it has a value may be
    refused while it is compiled, by an error that tells a bound: a negative number that the extent
    is never above. None where it is never negative.

    Raises:
        Exception: TVM raises otherwise in compiling it.
    """
    plan = shape_plan(subject, EXTENT)
    if plan is None or not len(negative_points(plan)):
        return None
    try:
        main = kernels.extents_built(kernels.named([plan]), how)
    except Exception as error:
        highest = int(plan.wanted[plan.valid].max())
        if is_of_tvm(error) and any(highest <= one < 0 for one in told(str(error))):
            return ()
        raise
    for point in map(int, negative_points(plan)):
        try:
            (made,) = main(given([plan], [point]))
        except Exception as error:
            if not is_of_tvm(error):
                raise
            if tells(str(error), (int(plan.wanted[point]),)):
                continue
            message = f"{type(error).__name__}: {error}"
            return (Fault(RAISES, message, str(subject.expression), plan.points.binding(point)),)
        return (_fault(EXTENT, plan, point, f"the tensor has {made}"),)
    return ()


def undefined_parameter(plan: Plan, how: kernels.How) -> kernels.OfNumbers:
    """A function of the variables of ``plan`` that takes a tensor of its size; of any here."""
    main = kernels.parameters_built(kernels.named([plan]), how)
    return lambda numbers: main(numbers, [1])


def undefined_extent(plan: Plan, how: kernels.How) -> kernels.OfNumbers:
    """A function of the variables of ``plan`` that makes a tensor of its size."""
    return kernels.extents_built(kernels.named([plan]), how)


def given(plans: Sequence[Plan], at: Sequence[int]) -> list[int]:
    """The variables of all ``plans``, each at its point."""
    bindings: list[Mapping[str, int]] = [
        one.points.binding(point) for one, point in zip(plans, at, strict=True)
    ]
    return [
        binding[variable.name]
        for one, binding in zip(plans, bindings, strict=True)
        for variable in one.subject.variables
    ]


def _fault(check: str, plan: Plan, at: int, said: str) -> Fault:
    binding = plan.points.binding(at)
    text = ", ".join(f"{name} = {value}" for name, value in binding.items())
    message = f"{plan.subject.expression} at {text} is {plan.wanted[at]}, and {said}"
    return Fault(check, message, str(plan.subject.expression), binding)
