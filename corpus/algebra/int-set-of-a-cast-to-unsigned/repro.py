"""int_set of a cast to unsigned gives an empty interval where the operand may be negative

This script needs tvm_tirx. It exits with 1 while the bug is there and with 0 once it is gone.
Seen with apache-tvm-tirx 0.1.0a4.
"""

import itertools
import operator
import sys

from tvm_tirx import ir, sym, tirx

x = tirx.Var("x", "int8")
VARIABLES = {"x": (x, -1, 0)}
EXPRESSION = tirx.Cast("uint8", x)
CONDITIONS = []


def informed_analyzer():
    """An analyzer that knows the ranges."""
    analyzer = sym.Analyzer()
    analyzer.sync_constraint_context(informed_context(analyzer, CONDITIONS))
    return analyzer


def informed_context(analyzer, conditions):
    """A context with the ranges and ``conditions``."""
    context = sym.ConstraintContext()
    context.append(sym.RangeConstraint(x, ir.Range.from_min_extent(ir.IntImm("int8", -1), ir.IntImm("int8", 2))))
    for condition in conditions:
        context = within(context, condition)
    return context


def within(context, condition):
    """A context in which ``condition`` holds besides what ``context`` says."""
    inner = sym.ConstraintContext(context, context.local_size())
    inner.append(sym.PredicateConstraint(condition))
    return inner


def dtype(node):
    return str(node.ty)


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATIONS = {
    **dict(Add=operator.add, Sub=operator.sub, Mul=operator.mul, Min=min, Max=max),
    **dict(FloorDiv=operator.floordiv, FloorMod=operator.mod, Div=quotient),
    **dict(LT=operator.lt, LE=operator.le, GT=operator.gt, GE=operator.ge),
    **dict(EQ=operator.eq, NE=operator.ne),
    **{"Mod": lambda a, b: a - b * quotient(a, b)},
    **{"And": lambda a, b: a and b, "Or": lambda a, b: a or b},
    **dict(LShift=operator.lshift, RShift=operator.rshift, BitwiseAnd=operator.and_),
    **dict(BitwiseOr=operator.or_, BitwiseXor=operator.xor, shift_left=operator.lshift),
    **dict(shift_right=operator.rshift, bitwise_and=operator.and_, bitwise_or=operator.or_),
    **dict(bitwise_xor=operator.xor),
}


def value(node, at):
    """The value of ``node`` at a point; ArithmeticError where it overflows or divides by zero."""
    kind = type(node).__name__
    if kind in ("Var", "SizeVar"):
        return at[node.name]
    if kind == "IntImm":
        return int(node.value)
    if kind == "Cast":
        operand, bits = value(node.value, at), width(dtype(node))
        if dtype(node) == "bool":
            return int(operand != 0)
        low = 0 if dtype(node).startswith("u") else -(2 ** (bits - 1))
        return (operand - low) % 2**bits + low
    if kind == "Not":
        return int(not value(node.a, at))
    if kind == "Select":
        parts = (node.condition, node.true_value, node.false_value)
        condition, first, second = (value(part, at) for part in parts)
        return first if condition else second
    if kind == "Call":
        kind = str(node.op.name).split(".")[-1]
        if kind == "large_uint_imm":
            return (int(node.args[1].value) << 32) + int(node.args[0].value)
        if kind == "likely":
            return value(node.args[0], at)
        if kind == "if_then_else":
            return value(node.args[1 if value(node.args[0], at) else 2], at)
        a, b = (value(part, at) for part in node.args)
    else:
        a, b = value(node.a, at), value(node.b, at)
    bits = width(dtype(node))
    if kind in ("LShift", "RShift", "shift_left", "shift_right") and not 0 <= b < bits:
        raise ArithmeticError("shifted by too much")
    result = int(OPERATIONS[kind](a, b))
    low = 0 if dtype(node)[0] in "ub" else -(2 ** (bits - 1))
    if not low <= result < low + 2**bits:
        raise ArithmeticError("overflow")
    return result


def width(name):
    return 1 if name == "bool" else int(name.lstrip("uint"))


def points():
    """Every point at which something is claimed, with the value of the expression there."""
    for values in itertools.product(*(range(low, high + 1) for _, low, high in VARIABLES.values())):
        at = dict(zip(VARIABLES, values))
        try:
            right = value(EXPRESSION, at)
            if all(value(condition, at) for condition in CONDITIONS):
                yield at, right
        except ArithmeticError:
            continue


def differing(new):
    """Where ``new`` has another value, or none; or that it has another dtype."""
    if dtype(new) != dtype(EXPRESSION):
        yield f"{EXPRESSION} became {new}, of dtype {dtype(new)}"
    for at, right in points():
        try:
            got = value(new, at)
        except ArithmeticError:
            got = None
        if got != right:
            yield f"{EXPRESSION} became {new}, which is {got} at {at}, not {right}"


def faults():
    for number in {1, len(VARIABLES)}:
        relaxed = {
            variable: sym.IntervalSet(*(ir.IntImm(dtype(variable), end) for end in ends))
            for variable, *ends in list(VARIABLES.values())[:number]
        }
        found = informed_analyzer().int_set(EXPRESSION, relaxed)
        for at, right in points():
            ends = []
            for end in (found.min_value, found.max_value):
                infinite = getattr(end, "name", "") in ("neg_inf", "pos_inf")
                try:
                    ends.append(right if infinite else value(end, at))
                except ArithmeticError:
                    ends.append(right)
            if not ends[0] <= right <= ends[1]:
                yield f"{found} does not contain {right}, the value of {EXPRESSION} at {at}"


for said in faults():
    sys.exit(f"wrong: {said}")
print("right")
