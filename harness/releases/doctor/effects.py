"""Says what stops working where a name of TVM is missing: commands, kinds of cases, fixes."""

from collections.abc import Iterable, Mapping, Sequence

from relaxcheck.harness.releases.doctor.reading import Read, Use, importers, modules_of

EVERYTHING = "everything: no worker starts"

# All modules of these are imported for the list of the fixes, which a worker has.
_DISCOVERED = tuple(
    f"relaxcheck.fixes.{room}" for room in ("lowerings", "passes", "shapes", "frontends")
)
_API = ("relaxcheck.fixes.tvm_api", "relaxcheck.fixes.sym_api")
"""One spelling for what TVM's releases name differently."""
_MOST = 6

# The first that a module's name begins with.
_ROOMS = {
    "relaxcheck.harness.compiling.passes": "fuzz pass, passes",
    "relaxcheck.harness.compiling": "every case that is compiled: fuzz, replay, reduce, matrix",
    "relaxcheck.harness.native": "linking of compiled cases, --target",
    "relaxcheck.harness.expressions": "fuzz algebra, algebra facts",
    "relaxcheck.harness.kvcache": "fuzz kvcache",
    "relaxcheck.harness.onnx": "fuzz onnx, onnx suite",
    "relaxcheck.harness.torch": "fuzz torch, torch table",
    "relaxcheck.harness.models": "model",
    "relaxcheck.harness.programs": "fuzz of operators and graphs",
    "relaxcheck.harness.releases": "fixes, operators",
    "relaxcheck.harness.workers": EVERYTHING,
    "relaxcheck.harness": "fuzz, replay, reduce",
    "relaxcheck.generators.emission.expressions": "fuzz algebra, index_tensor",
    "relaxcheck.generators": "fuzz of operators and graphs",
    "relaxcheck.fixes.framework": "fixes",
    "relaxcheck.fixes.upstream": "fixes export",
    "relaxcheck.fixes.bucketing": "fixes.bucketed",
    "relaxcheck.fixes.frontends.onnx": "fixes of the ONNX importer",
    "relaxcheck.fixes.frontends.torch": "fixes of the PyTorch importer",
    "relaxcheck.fixes.sym_api": "fuzz algebra, algebra facts, index_tensor",
    "relaxcheck.fixes": "fixes",
}


class Effects:
    """Finds what stops working, by the uses of a name in our modules."""

    def __init__(self, reads: Mapping[str, Read]):
        self._reads = reads
        self._importers = importers(reads)
        self._prepared = {
            module
            for read in reads.values()
            for path in read.prepared
            for module in modules_of(path, reads)
        }

    def of(self, uses: Iterable[Use]) -> tuple[str, ...]:
        """List what stops working without the name of ``uses``, the gravest first."""
        uses = list(uses)
        at_import = {use.module for use in uses if not use.function}
        stopped = at_import.union(*(self._importers[module] for module in at_import))
        if self._reaches_workers(stopped):
            return (EVERYTHING,)
        modules = stopped | {use.module for use in uses if use.function}
        modules |= self._callers(use for use in uses if use.function)
        labels = dict.fromkeys(
            label for module in sorted(modules) for label in self._labels(module)
        )
        ordered = sorted(labels, key=lambda label: (label.startswith("fix "), label))
        more = len(ordered) - _MOST
        return (*ordered[:_MOST], *([f"and {more} more"] if more > 0 else []))

    def _reaches_workers(self, modules: set[str]) -> bool:
        """True if workers import one of ``modules`` as they start."""
        return any(module in self._prepared or module.startswith(_DISCOVERED) for module in modules)

    def _callers(self, uses: Iterable[Use]) -> set[str]:
        """The modules that name a function of ``_API`` that has one of ``uses``."""
        functions = {(use.module, use.function) for use in uses if use.module.startswith(_API)}
        return {
            read.module
            for module, function in functions
            for read in self._reads.values()
            if function in read.names and read.module != module
        }

    def _labels(self, module: str) -> Sequence[str]:
        if module.startswith(_API):
            return ()
        if names := self._reads[module].fixes:
            return [f"fix {name}" for name in names]
        if module.startswith("relaxcheck.fixes."):
            made = [
                name
                for each in self._importers[module]
                for name in self._reads[each].fixes
                if len(self._reads[each].fixes) == 1
            ]
            if 0 < len(made) <= _MOST:
                return [f"fix {name}" for name in sorted(made)]
        return [next((text for room, text in _ROOMS.items() if module.startswith(room)), module)]
