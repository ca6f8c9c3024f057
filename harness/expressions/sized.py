"""Expressions as sizes of tensors: of those that a function is given, and of those that it makes.

Wrong sizes are tried as well: a tensor of another size than a parameter's must be refused, by an
error that names both sizes; so must a negative extent.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from relaxcheck.generators.expressions.cases import EXTENT, PARAMETER
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.harness.expressions import kernels
from relaxcheck.harness.expressions.fault import RAISES, Asked, Fault
from relaxcheck.harness.expressions.kernel_plans import (
    CALLS,
    Plan,
    negative_points,
    other_sizes,
    shape_plan,
    tensor_points,
)
from relaxcheck.harness.outcomes.blame import is_of_tvm
from relaxcheck.harness.outcomes.errors import compared_with, headline, integers_in, states

Faults = tuple[Fault, ...]
Sizes = Sequence[int]

ACCEPTED, UNTOLD = f"{PARAMETER}-accepted", f"{PARAMETER}-untold"
"""The checks that a tensor of another size is refused, and that the error names the sizes."""

COMPUTED = f"{PARAMETER}-computed"
"""The check that a refusal compares a tensor with the size that the parameter has."""


class Refused(Exception):
    """``fault`` is found, if there is one plan; else one of the plans has it."""

    def __init__(self, fault: Fault):
        super().__init__(fault.message)
        self.fault = fault


def parameters(plans: Sequence[Plan], how: kernels.How) -> list[Faults]:
    """Faults of each of ``plans`` as the size of a parameter of one function.

    Raises:
        Refused: tensors of the right sizes are refused.
        Exception: TVM raises in compiling it.
    """
    main = kernels.parameters_built(kernels.named(plans), how)
    chosen = [tensor_points(plan) for plan in plans]
    for call in range(CALLS):
        at = [int(own[call % len(own)]) for own in chosen]
        sizes = [int(plan.wanted[point]) for plan, point in zip(plans, at, strict=True)]
        try:
            main(variable_values(plans, at), sizes)
        except Exception as error:
            if not is_of_tvm(error):
                raise
            refusal = f"a tensor of {sizes[0]} is refused: {headline(str(error))}"
            raise Refused(_fault(PARAMETER, plans[0], at[0], refusal)) from error
    first = [int(own[0]) for own in chosen]
    sizes = [int(plan.wanted[point]) for plan, point in zip(plans, first, strict=True)]
    all_faults: list[Faults] = []
    for number, plan in enumerate(plans):
        faults = _others(plan, _of_one(main, plans, first, sizes, number))
        all_faults.append(tuple(faults)[:1])
    return all_faults


def _of_one(
    main: kernels.OfSizes, plans: Sequence[Plan], at: Sequence[int], sizes: Sizes, number: int
) -> Callable[[int, int], None]:
    """``main`` as a function of the point and the size of one of ``plans``, the others as given."""

    def call(point: int, size: int) -> None:
        points, all_sizes = list(at), list(sizes)
        points[number], all_sizes[number] = point, size
        main(variable_values(plans, points), all_sizes)

    return call


def _others(plan: Plan, call: Callable[[int, int], None]) -> Iterator[Fault]:
    """Faults where a tensor has another size than the parameter."""
    for point, size in other_sizes(plan):
        right = int(plan.wanted[point])
        try:
            call(point, size)
        except Exception as error:
            if not is_of_tvm(error):
                raise
            computed = compared_with(str(error), size)
            if computed is not None and computed != right:
                refusal = f"a tensor of {size} is compared with {computed}: "
                yield _fault(COMPUTED, plan, point, refusal + headline(str(error)))
            elif not states(str(error), (right, size)):
                refusal = f"a tensor of {size} is refused by what does not say so: "
                yield _fault(UNTOLD, plan, point, refusal + headline(str(error)))
            continue
        yield _fault(ACCEPTED, plan, point, f"a tensor of {size} is accepted")


def extents(plans: Sequence[Plan], how: kernels.How) -> list[Faults]:
    """Faults of each of ``plans`` as the extent of a tensor that one function makes.

    Raises:
        Exception: TVM raises.
    """
    main = kernels.extents_built(kernels.named(plans), how)
    chosen = [tensor_points(plan) for plan in plans]
    faults: list[Faults] = [()] * len(plans)
    for call in range(CALLS):
        at = [int(own[call % len(own)]) for own in chosen]
        made = main(variable_values(plans, at))
        for number, (plan, point) in enumerate(zip(plans, at, strict=True)):
            if made[number] != int(plan.wanted[point]) and not faults[number]:
                actual = f"the tensor has {made[number]}"
                faults[number] = (_fault(EXTENT, plan, point, actual),)
    return faults


def negative_extent(subject: Problem, how: kernels.How) -> Faults | None:
    """Faults where ``subject`` is the extent of a tensor and negative.

    It has to be an error that tells the extent. An extent that is negative wherever it has a value
    may be refused while it is compiled, by an error that tells a bound: a negative number that the
    extent is never above. None where it is never negative.

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
        if is_of_tvm(error) and any(highest <= number < 0 for number in integers_in(str(error))):
            return ()
        raise
    for point in map(int, negative_points(plan)):
        try:
            (made,) = main(variable_values([plan], [point]))
        except Exception as error:
            if not is_of_tvm(error):
                raise
            if states(str(error), (int(plan.wanted[point]),)):
                continue
            message = f"{type(error).__name__}: {error}"
            return (
                Fault(Asked(RAISES), message, str(subject.expression), plan.points.binding(point)),
            )
        return (_fault(EXTENT, plan, point, f"the tensor has {made}"),)
    return ()


def undefined_parameter(plan: Plan, how: kernels.How) -> kernels.OfNumbers:
    """A function of the variables of ``plan`` that takes a tensor of its size; of any here."""
    main = kernels.parameters_built(kernels.named([plan]), how)
    return lambda numbers: main(numbers, [1])


def undefined_extent(plan: Plan, how: kernels.How) -> kernels.OfNumbers:
    """A function of the variables of ``plan`` that makes a tensor of its size."""
    return kernels.extents_built(kernels.named([plan]), how)


def variable_values(plans: Sequence[Plan], at: Sequence[int]) -> list[int]:
    """The variables of all ``plans``, each at its point."""
    bindings: list[Mapping[str, int]] = [
        plan.points.binding(point) for plan, point in zip(plans, at, strict=True)
    ]
    return [
        binding[variable.name]
        for plan, binding in zip(plans, bindings, strict=True)
        for variable in plan.subject.variables
    ]


def _fault(check: str, plan: Plan, at: int, observation: str) -> Fault:
    binding = plan.points.binding(at)
    text = ", ".join(f"{name} = {value}" for name, value in binding.items())
    message = f"{plan.subject.expression} at {text} is {plan.wanted[at]}, and {observation}"
    return Fault(Asked(check), message, str(plan.subject.expression), binding)
