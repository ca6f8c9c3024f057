"""The files of TVM's passes: every pass that runs has one, and the library names it."""

import mmap
import re
from pathlib import Path
from typing import Any

import tvm
from tvm import relax

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.emission.programs import emit
from relaxcheck.generators.gradients.family import families
from relaxcheck.harness.compiling.pipelines import GRADIENTS
from relaxcheck.harness.known.corpus import entries, entry
from relaxcheck.harness.outcomes.pass_files import FILES, RELEASES, file_of
from relaxcheck.harness.programs.compile import STEPS
from relaxcheck.harness.releases.releases import supported

PACKAGE = Path(tvm.__file__).parent
GROUPS = {"_pipeline", "sequential"}
"""Names of passes that only run others."""

WITHOUT_CHECKS = {
    *("annotate_tir_op_pattern", "attach_global_symbol", "bind_target", "common_subexpr_elim"),
    *("compute_prim_value", "dead_code_elimination", "expand_tuple_arguments"),
    *("lift_thread_binding", "lower_init_block", "lower_vtcm_alloc", "primfunc_utils"),
    *("remove_purity_checking", "renormalize_split_pattern", "rewrite_unsafe_select"),
    *("stmt_simplify", "to_non_dataflow"),
}
"""Files of passes that raise no error of their own on some release, so that no library names them.

Their names are those of the repository apache/tvm.
"""


@tvm.instrument.pass_instrument
class Names:
    """Keeps the names of the passes that ran."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def run_before_pass(self, module: Any, info: Any) -> None:
        self.names.add(str(info.name))


def test_every_pass_of_the_pipelines_has_a_file() -> None:
    case = entry("attention-grouped-query").case
    (family,) = (each for each in families(("build",)) if each.name == "gradient-negative")
    differentiated = family.build(complete(family.axes, {}), 0)
    names, target = Names(), tvm.target.Target("llvm")
    with tvm.transform.PassContext(instruments=[names]):
        for name, step in STEPS.items():
            own = differentiated if name == GRADIENTS else case
            with target:
                step(emit(own), own)
        for pipeline in ("default", relax.get_default_pipeline(target)):
            relax.build(emit(case), target, relax_pipeline=pipeline)
    assert len(names.names) > 60
    assert names.names - FILES.keys() == GROUPS


def test_every_pass_at_fault_in_the_corpus_has_a_file() -> None:
    culprits = {each.expected.culprit.name for each in entries() if each.expected.culprit}
    assert culprits - FILES.keys() == {None, "emit"}


def test_the_library_or_the_package_has_the_files() -> None:
    library = PACKAGE / "lib" / "libtvm_compiler.so"
    with library.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as text:
        native = {path.decode() for path in re.findall(rb"src/[\w/]+\.cc(?=\0)", text)}
    for file in FILES.values():
        if file.endswith(".py"):
            assert (PACKAGE.parent / file.removeprefix("python/")).is_file()
        else:
            assert file in native or Path(file).stem in WITHOUT_CHECKS, file


def test_a_file_holds_for_the_supported_releases() -> None:
    assert supported() == RELEASES
    assert file_of("LegalizeOps", "0.27.0.post1") == "src/relax/transform/legalize_ops.cc"
    assert file_of("LegalizeOps", "0.24.0") == file_of("LegalizeOps", "") == ""
    assert file_of(None, "0.27.0") == file_of("emit", "0.27.0") == file_of("Mine", "0.27.0") == ""
