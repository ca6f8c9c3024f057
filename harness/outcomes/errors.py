"""Error messages: the names and numbers in them, and which messages are alike."""

import re
from collections.abc import Iterable, Sequence

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_LONG_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
"""An address, and no byte."""
_PATH = re.compile(r"(?:/[\w.+-]+)+/([\w.+-]+)(?::\d+)?")
_INSTALLED = re.compile(r"/[^\s\"':]*/(?=(?:site-packages|dist-packages|python3\.\d+)/)")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_PRINTED_LAYOUT = re.compile(r"(?<=^InternalError: Invalid layout )\S.*")
"""A layout that ConvertLayout made of letters out of range: any bytes."""
_LAYOUT = re.compile(r"\b(?!(?:TOPI|INFO)\b)[A-Z]{3,6}(?:\d+[a-z])*\b")
_DTYPE = re.compile(r"\b(?:T\.)?(?:bool|bfloat16|(?:float|u?int)\d+(?:_e\dm\d(?:fn)?)?)\b")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_BY_NAME = ("AttributeError: ", "KeyError: ", "NameError: ")
"""Python exceptions whose text differs by names alone, so that names are not folded."""
_SAYS_NOTHING = re.compile(r"Check failed|is false|^\w+(?:Error|Exception)\b|dtype|'…'")
"""Parts of a folded message that say nothing: its class, TVM's frame, what was folded."""
ALONE = r"(?<![\w.])-?\d+(?!\w|\.\d)"
"""An integer that is no part of a name or of another number. Generated scripts use it too."""
LOCATION = r"(?s)\n+Error in pass: [^\n]*\nLocation \(TVMScript\):.*"
"""The module in which a pass fails, which TVM appends since 0.27. It names all that it holds."""
_SHAPE = re.compile(r"[\[(](?:[\w#*+/%.'… -]{1,12},\s*)*[\w#*+/%.'… -]{0,12}[\])]")
"""A bracket around short items: a shape, a list of strides, an empty argument list."""
_CAST = re.compile(r"\bdtype\(#\)")
"""A number of a stated dtype: ``T.int64(2)``."""
_REPEATED = re.compile(r"(\(#\)|\w*#)(?:, \1)+(?![\w#])")
"""Folded shapes, sizes or numbered names in a list, of which there may be any number."""
_SIGN = "(?:[*+/%-]|//)"
_FOLDED = r"(?:\(#\)|#)"
_TERM = rf"(?:{_FOLDED}|\b[A-Za-z]\b)"
_ARITHMETIC = re.compile(
    rf"(?:{_TERM} {_SIGN} )+{_FOLDED}(?: {_SIGN} {_TERM})*|{_FOLDED}(?: {_SIGN} {_TERM})+"
)
"""Folded numbers, brackets and symbols of one letter, calculated with."""

_HEAP = re.compile(
    r"\b(?:malloc|free|realloc|malloc_consolidate|munmap_chunk|unlink_chunk|_int_\w+)\(#?\): |"
    r"double free or corruption|corrupted (?:size|double-linked|unsorted|tcache)"
)
"""glibc's words when it finds its bookkeeping overwritten, also folded."""

OVERWRITTEN = "wrote out of bounds"
"""Words of ours about a function, when the room around its result is checked."""

WRITTEN = "out of bounds"
"""The key, in the details of a corrupted heap, of a sentence on the function that wrote there."""

CONDITION = re.compile(r"Check failed: (?:\(.*?\) is false: |\S.*? : )(?=\w)")
"""The condition of a check in C++, before words of its own."""
_STRUCT_INFO = re.compile(r"(?i)struct[ _]?info(?:_(?=\W))?")
"""A struct info in words, as part of the name of a class, or as a field."""

_MODULE = re.compile(r"\b(?:arith|sym|tirx?|prim)\.(?=[A-Za-z])")
_PRINTED_TYPE = re.compile(r"(?<=[( ])dtype=")
"""The module of a class or an operator, and the field of its type, which 0.26 and 0.27 renamed."""

_LONGEST, _ENOUGH = 300, 40
"""The length that messages are cut to, and that which two have to share to be one error."""

_OPERATOR = re.compile(r"ir\.Op\((?:[^()]|\([^()]*\))*\)")
"""An operator as TVM prints it, with all its fields."""

_PRINTED_OPERATOR = re.compile(
    r'ir\.Op\([^()]*(?:\([^()]*\)[^()]*)?name="([\w.]+)"'
    r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
)
"""The same with its name, and with its arguments, which hold brackets of their own."""

NOT_DEFINED = ("undefined", "not defined")
"""Words of an error about a name that nothing defines."""

REFUSALS = (
    *("not supported", "not implemented", "unsupported", "NotImplementedError"),
    *("only support", "only supports", "cannot be lowered"),
)
"""Words of an error about something that is not supported; some are the name of its class."""

_OF_OPERANDS = ("unsupported operand type", "between instances of", "for the input types")
"""Words of Python and of NumPy about operands that their own operations do not take."""

_ONLY = re.compile(
    r"\bnot (?:currently|yet) supported\b|\bonly\b[^.\n]*\bsupported\b", re.IGNORECASE
)
"""Sentences about what alone is supported, such as "Only constant axes currently supported"."""

UNNAMED = "unnamed"
"""The key, in an outcome's details, of a refusal that names no operator of the program."""


def pattern(terms: Iterable[str]) -> str:
    """A regular expression that finds any of ``terms`` as whole words; use it with IGNORECASE.

    The words of a term may be apart or together, and begin or end a longer name:
    ``output_padding`` is found in "output padding", ``batch_size`` in ``BatchSize``, ``bias`` in
    ``bias_shape``; but ``add`` is not in "padding". Generated scripts
    (``relaxcheck.reports.programs.repro``) have a function that does the same.
    """
    each = (r"[\W_]*".join(re.findall("[0-9A-Za-z]+", term)) for term in terms)
    return rf"(?<![0-9A-Za-z])(?:{'|'.join(each)})(?![0-9A-Za-z])"


def legible(message: str) -> str:
    """``message`` with the names of operators in place of all their fields."""
    return _PRINTED_OPERATOR.sub(r"\1", message)


def corrupts_heap(message: str) -> bool:
    """True if ``message`` is the abort of a process whose heap was written out of bounds.

    Which allocation notices that, and with which words, is chance.
    """
    return _HEAP.search(message) is not None


def writes_out_of_bounds(message: str) -> bool:
    """True if ``message`` is the error of a function that changed the room around its result.

    That is seen on every run, unlike a corrupted heap.
    """
    return OVERWRITTEN in message


def spelled(terms: Iterable[str]) -> tuple[str, ...]:
    """``terms``, each in the singular and in the plural."""
    return tuple(dict.fromkeys(form for term in terms for form in (term, f"{term}s")))


def names(message: str, operator: str, terms: Iterable[str]) -> bool:
    """True if ``message`` names ``operator`` (its last part suffices) and one of ``terms``.

    Names are matched as in ``pattern``, ``terms`` in the plural as well.
    """
    return names_operator(message, operator) and mentions(message, terms)


def mentions(message: str, terms: Iterable[str]) -> bool:
    """True if ``message`` names any of ``terms``, in the singular or plural (see ``pattern``)."""
    return _has(message, spelled(terms))


def _has(message: str, terms: Sequence[str]) -> bool:
    return bool(terms) and bool(re.search(pattern(terms), without_module(message), re.IGNORECASE))


def without_module(message: str) -> str:
    """``message`` without the module that TVM appends to show where a pass failed."""
    return re.sub(LOCATION, "", message)


def last_part(operator: str) -> str:
    """The name of ``operator`` without its modules: ``add`` for ``ns.add``."""
    return operator.rpartition(".")[2]


def names_operator(message: str, operator: str) -> bool:
    """True if ``message`` names ``operator``; its last part suffices."""
    return _has(message, (last_part(operator),))


def disowns(message: str, operator: str) -> bool:
    """True if ``message`` says that ``operator``, or some use of it, is not supported."""
    return names_operator(message, operator) and _has(message, REFUSALS)


def says_unsupported(message: str) -> bool:
    """True if ``message`` says that something is not supported, whatever it names.

    Errors of Python's and NumPy's own about operands do not count: nobody refuses anything there.
    """
    text = without_module(message)
    says = _ONLY.search(text) is not None or _has(text, REFUSALS)
    return says and not concerns_operands(text)


def concerns_operands(message: str) -> bool:
    """True if ``message`` is an error of Python's or NumPy's own about operands."""
    return _has(message, spelled(_OF_OPERANDS))


def without_addresses(message: str) -> str:
    """``message`` without addresses in memory, which differ on each run."""
    return _LONG_ADDRESS.sub("0x…", message)


def portable(message: str) -> str:
    """``message`` with the paths of installed files relative to the installation."""
    return _INSTALLED.sub("", message)


_CODE_GENERATORS = ("CodeGenVMTIR", "CodeGenVM")
"""The code generators of the two modes of the virtual machine, which refuse the same calls."""

_PRINTED_CALL = "\nOffending call:"
_CALLED = re.compile(r"R\.[\w.]+")
_NO_HEADLINE = ("File ", "Traceback", "Stack trace", "^", "(... ")


def error_text(error: BaseException) -> str:
    """The class and the message of ``error``."""
    return f"{type(error).__name__}: {error}"


def headline(message: str) -> str:
    """The most telling line of ``message``: the last one that is not part of a traceback.

    Of a call that TVM prints after an error, the operator follows the line.
    """
    text, _, call = without_module(message).partition(_PRINTED_CALL)
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith(_NO_HEADLINE)]
    operator = _CALLED.search(call)
    return " ".join([*lines[-1:], *([f"Offending call: {operator[0]}."] if operator else [])])


def own_words(message: str) -> str:
    """The headline of ``message`` behind its first colon, where ``error_text`` has the words.

    The class of the exception stands before it. Empty if the headline has no colon.
    """
    return headline(message).partition(": ")[2]


def normalise(message: str) -> str:
    """The headline of ``message``, folded (``fold``) and cut."""
    return fold(message)[:_LONGEST]


def fold(message: str) -> str:
    """The headline of ``message`` with numbers, strings, layouts, dtypes and paths folded.

    Shapes, lists of sizes and what is calculated of sizes are folded, however long they are.
    """
    line = headline(message)
    line = _ADDRESS.sub("0x…", line).replace(*_CODE_GENERATORS)
    line = _PATH.sub(r"\1", line)
    if not line.startswith(_BY_NAME):
        line = _QUOTED.sub("'…'", line)
    line = _PRINTED_LAYOUT.sub("L", _LAYOUT.sub("L", line))
    line = _DTYPE.sub("dtype", line)
    line = _CAST.sub("#", _NUMBER.sub("#", line))
    # Shapes stand in lists, and brackets in products.
    for _ in range(2):
        line = _ARITHMETIC.sub("#", _REPEATED.sub(r"\1", _SHAPE.sub("(#)", line)))
    return line


def same_elsewhere(folded: str, other: str) -> bool:
    """True if two releases print one error as these two messages, which were folded, maybe cut.

    Of a message that was cut, which has the full length, the last word is not compared, nor is the
    rest of the other. A longer one was not cut.
    """
    here, there = map(as_on_other_releases, (folded, other))
    return (
        here == there
        or (len(folded) == _LONGEST and _begins(there, here))
        or (len(other) == _LONGEST and _begins(here, there))
    )


def _begins(whole: str, cut: str) -> bool:
    """True if ``whole`` begins with all but the last word of ``cut``."""
    words = cut.rpartition(" ")[0]
    return len(words) >= _ENOUGH and whole.startswith(words)


def as_on_other_releases(folded: str) -> str:
    """A message that was folded (``fold``) without what other releases print otherwise.

    That is the condition of a check that has words, the fields of a printed operator, and names of
    classes, modules and fields: struct info is called a type since 0.27.
    """
    message = _OPERATOR.sub("operator", CONDITION.sub("", folded))
    message = _PRINTED_TYPE.sub("ty=", _MODULE.sub("", message))
    return _STRUCT_INFO.sub("type", message).replace("PrimExpr", "Expr").casefold()


def has_words(folded: str) -> bool:
    """True if a message that was ``folded`` (``normalise``) has words of its own.

    ``RuntimeError:`` has none, nor has ``InternalError: Check failed: (#) is false:``.
    """
    return bool(re.search(r"[A-Za-z]{3}", _SAYS_NOTHING.sub("", folded)))


def states(message: str, numbers: Iterable[int]) -> bool:
    """True if each of ``numbers`` stands in ``message`` by itself."""
    return integers_in(message) >= set(numbers)


def compared_with(message: str, number: int) -> int | None:
    """The integer that a failed check in ``message`` compares ``number`` with: ``(0 vs. -1)``."""
    for pair in re.findall(r"\((-?\d+) vs\. (-?\d+)\)", without_module(message)):
        one, other = map(int, pair)
        if number in (one, other):
            return other if number == one else one
    return None


def integers_in(message: str) -> set[int]:
    """The integers that stand in ``message`` by themselves: 8 does not in "int8"."""
    return set(map(int, re.findall(ALONE, without_module(message))))
