"""``relaxcheck export``: what it writes, and what it says where there is nothing to write."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from typer.testing import CliRunner, Result

from relaxcheck.cli import app
from relaxcheck.cli.actions.exporting.titles import Titles
from relaxcheck.cli.lookup import look_up
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue, read
from relaxcheck.generators.families import family
from relaxcheck.harness.journal.journal import Journal, Mode
from relaxcheck.harness.known.corpus import Culprit, Record, entry, read_record
from relaxcheck.harness.outcomes.attribution import Aspect, Attribution, Condition, Difference
from relaxcheck.harness.outcomes.errors import portable
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.legalization_log import SYMPTOM
from relaxcheck.harness.programs.pipelines import PIPELINES
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.harness.releases.releases import Release
from relaxcheck.harness.triage.bisection.search import Evidence
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.fingerprint import fingerprint, signature_of
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.reports.issue.finding_folder import releases, rendered
from relaxcheck.reports.programs.issue import BUG, REQUEST, issue_text
from relaxcheck.reports.programs.titles import title_text
from relaxcheck.reports.rendering import Came

FAMILY = family("conv2d_transpose", tuple(PIPELINES))
BLAME = {"data_layout": "NHWC", "groups": 2}
SEEN = "InternalError: CodeGenVM cannot emit this Relax operator directly."
LEFT = Outcome(
    Verdict.SILENT_BAIL,
    "LegalizeOps",
    "nn.conv2d_transpose",
    "left: R.nn.conv2d_tr",
    details={SYMPTOM: f"{SEEN}\nOffending call:\nR.nn.conv2d_transpose(data, weight)"},
)


def failing(*, fixes: bool = False) -> Case:
    case = FAMILY.build(complete(FAMILY.axes, BLAME), 3)
    return msgspec.structs.replace(case, fixes=fixes)


def finding(case: Case, outcome: Outcome = LEFT) -> Finding:
    blame = {name: str(value) for name, value in BLAME.items()}
    return Finding(
        "f" * 12, outcome.verdict, outcome.stage, str(outcome.operator), "", blame, case, outcome
    )


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    """A campaign in runs/ whose only finding is of the case that is returned."""
    monkeypatch.chdir(tmp_path)
    case = failing()
    with Journal(tmp_path / "runs" / "one", Mode.NEW) as journal:
        journal.describe({"apache-tvm": "0.27.0", "torch": "2.13.0"})
        journal.start(case, "drawn")
        journal.end(case, LEFT)
        journal.write_finding("f" * 12, msgspec.json.encode(finding(case)))
    return case


def export(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["export", *arguments])


def test_what_is_recorded_becomes_a_folder(campaign: Case) -> None:
    result = export(campaign.identifier[:10], "--as-is")
    assert result.exit_code == 0, result.output
    folder = Path(campaign.identifier)
    files = ["case.json", "finding.json", "issue.md", "repro.py"]
    assert sorted(path.name for path in folder.iterdir()) == files
    *paths, hint = result.output.splitlines()
    assert paths == [str(folder / name) for name in files]
    assert hint.startswith(f"Paste {folder / 'issue.md'}: its first line is the title")
    assert read(folder / "case.json") == campaign
    assert json.loads((folder / "finding.json").read_text())["fingerprint"] == "f" * 12
    title, *body = (folder / "issue.md").read_text().splitlines()
    assert title == (
        "[Bug][Relax] nn.conv2d_transpose is left behind by LegalizeOps without an error "
        '(data_layout="NHWC", groups=2)'
    )
    headings = [line.removeprefix("### ") for line in body if line.startswith("### ")]
    assert headings == [
        *("Expected behavior", "Actual behavior", "Environment", "Steps to reproduce", "Triage")
    ]
    left = "`relax.op.nn.conv2d_transpose` is left behind by LegalizeOps without an error:"
    # First the error that a user sees, then the place.
    assert f"`relax.build` fails with `{SEEN}`: {left}" in body
    assert "* apache-tvm 0.27.0" in body
    script = (folder / "repro.py").read_text()
    assert script in (folder / "issue.md").read_text()
    assert 'data_layout="NHWC"' in script
    # An export can be looked up again, with everything that is known of it.
    again = look_up(str(folder.absolute()), None)
    assert (again.case, again.expected) == (campaign, read_record(folder))
    assert look_up(str(folder), None).finding == finding(campaign)
    written = {path: path.read_text() for path in folder.iterdir()}
    assert export(campaign.identifier, "--as-is").exit_code == 0
    assert export(str(folder.absolute()), "--as-is", "--out", str(folder)).exit_code == 0
    assert {path: path.read_text() for path in folder.iterdir()} == written


def test_a_finding_becomes_a_test(campaign: Case) -> None:
    result = export(campaign.identifier, "--pytest", "--out", "tests")
    assert result.exit_code == 0, result.output
    (path,) = Path("tests").iterdir()
    assert path.name == f"test_nn_conv2d_transpose_{campaign.identifier[:8]}.py"
    text = path.read_text()
    assert "@pytest.mark.xfail(" in text
    assert f"def {path.stem}():" in text
    assert "sys.exit" not in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no-such-thing",), "no case 'no-such-thing'"),
        (("missing.json",), "missing.json: No such file"),
        (("passing",), "passing does not fail without the fixes: pass"),
        (("ID", "--out", "file/inside"), "cannot write to file/inside: /"),
        (("--all", "--out", "file"), "file is not a folder"),
        (("ID", "--dir", "nowhere"), "nowhere"),
        (("ID", "--pytest"), "exclude each other"),
        (("--all", "--dir", "nowhere"), "nowhere holds no campaign"),
        (("--all", "ID"), "--all exports every finding; leave out"),
        ((), "give a case, or --all"),
    ],
)
def test_nothing_to_write_is_one_clear_line(
    campaign: Case, arguments: tuple[str, ...], words: str
) -> None:
    arguments = (*arguments, "--as-is") if "--all" not in arguments else arguments
    Path("file").write_text("")
    with Journal(Path("runs") / "two", Mode.NEW) as journal:
        passing = msgspec.structs.replace(campaign, seed=99)
        journal.start(passing, "drawn")
        journal.end(passing, Outcome(Verdict.PASS))
    names = {"ID": campaign.identifier, "passing": passing.identifier}
    result = export(*(names.get(argument, argument) for argument in arguments))
    assert result.exit_code == 2
    message = result.stderr.strip()
    assert words.replace("passing", passing.identifier) in message
    assert len(message.splitlines()) == 1


def test_a_fault_of_ours_is_exported_by_nobody(campaign: Case) -> None:
    with Journal(Path("runs") / "two", Mode.NEW) as journal:
        faulty = msgspec.structs.replace(campaign, seed=98)
        journal.start(faulty, "drawn")
        journal.end(faulty, Outcome(Verdict.HARNESS_ERROR, "oracle", None, "KeyError: 'x'"))
    result = export(faulty.identifier, "--as-is")
    assert result.exit_code == 3
    assert result.stdout.strip() == f"harness-error: {faulty.identifier}: KeyError: 'x'"


def test_an_entry_is_written_as_it_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "19694-conv1d-transpose-nwc"
    known = entry(name)
    result = export(name, "--as-is")
    assert result.exit_code == 0, result.output
    folder = Path(name)
    issue = (folder / "issue.md").read_text()
    assert issue.startswith("[Bug][Relax] conv1d_transpose with data layout NWC\n")
    assert "Known: https://github.com/apache/tvm/issues/19694" in issue
    for path in known.folder.iterdir():
        assert path.read_text() == (folder / path.name).read_text()
    # The name of the entry takes precedence.
    assert look_up(name, None).expected == known.expected
    folder.rename("renamed")
    assert look_up("renamed", None).case == known.case


def test_what_is_rendered_can_be_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known = entry("19694-conv1d-transpose-nwc")
    folder = Path("corpus", "conv1d_transpose", known.name)
    shutil.copytree(known.folder, folder)
    unchanged = export("--rewrite", "corpus")
    assert (unchanged.exit_code, unchanged.output) == (0, "")
    (folder / "repro.py").write_text("spoilt")
    (folder / "issue.md").write_text("spoilt")
    for place in ("corpus", str(folder)):
        result = export("--rewrite", place)
        assert result.exit_code == 0, result.output
        for path in known.folder.iterdir():
            assert (folder / path.name).read_text() == path.read_text()
        issue = rendered(known.case, known.expected)["issue.md"]
        assert (folder / "issue.md").read_text() == issue
        assert len(result.output.split()) == (2 if place == "corpus" else 0)
    (folder / "finding.json").write_text("{}")
    result = export("--rewrite", "corpus")
    assert result.exit_code == 2
    assert "missing required field" in result.stderr


class Sound:
    """In the place of the workers: whatever runs passes."""

    environment: ClassVar = {"apache-tvm": "0.27.0"}
    limits: ClassVar = Limits()
    ran: ClassVar[list[tuple[Case, Release]]] = []

    def __init__(self, count: int, limits: Limits, release: Release) -> None:
        self.release = release

    def __enter__(self) -> "Sound":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def submit(self, job: Job) -> None:
        self.ran.append((job.case, self.release))
        self.job = job

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        yield self.job, Outcome(Verdict.PASS)


def test_what_was_recorded_with_the_fixes_runs_without_on_its_release(
    campaign: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed = failing(fixes=True)
    with Journal(Path("runs") / "two", Mode.NEW) as journal:
        journal.describe({"release": "0.1"})
        journal.start(fixed, "drawn")
        journal.end(fixed, LEFT)
    monkeypatch.setattr("relaxcheck.cli.actions.export.Pool", Sound)
    old = Release("0.1", Path("python"))
    monkeypatch.setattr("relaxcheck.cli.actions.export.release", {"0.1": old}.__getitem__)
    result = export(fixed.identifier, "--as-is")
    assert result.exit_code == 2
    assert f"{fixed.identifier} does not fail without the fixes: pass" in result.stderr
    assert Sound.ran == [(failing(), old)]


def test_an_issue_tells_what_else_is_known() -> None:
    repro = reproduction(failing(), LEFT)
    title = title_text(repro, None)
    assert 'data_layout="NHWC"' in title
    plain = issue_text(repro, title, "pass\n", {})
    assert plain.startswith(f"[Bug][Relax] {title}\n")
    assert "breaks it" not in plain
    assert "| apache-tvm |" not in plain
    full = issue_text(
        repro,
        title,
        "pass\n",
        {},
        culprit=Culprit("ConvertLayout", Evidence.PREFIX, "right without it"),
        releases={
            "0.23": Came(None),
            "0.24": Came(Verdict.SILENT_BAIL),
            "0.25": Came(Verdict.PASS),
            "0.25.1": Came(Verdict.SILENT_BAIL, alike=False),
            "0.26": Came(Verdict.WRONG_VALUE, alike=False),
            "0.27": Came(Verdict.SILENT_BAIL, alike=True),
        },
    )
    assert "Pass at fault: `ConvertLayout` (right without it)." in full
    rows = [
        "0.23 | could not be run on it",
        "0.24 | fails: it leaves a call unlowered",
        "0.25 | passes",
        "0.25.1 | fails too, but elsewhere or in other words: it leaves a call unlowered",
        "0.26 | fails in another way: it gives wrong values",
        "0.27 | fails in this way",
    ]
    assert "\n".join(f"| {row} |" for row in rows) in full
    unknown = issue_text(repro, "It", "", {}, culprit=Culprit(None, Evidence.NONE, "any of two"))
    assert "Pass at fault: unknown (any of two)." in unknown


@pytest.mark.parametrize(
    ("verdict", "invalid", "predicate"),
    [
        (Verdict.OPAQUE_CRASH, True, "is refused without saying what is invalid, when it runs"),
        (Verdict.UNSUPPORTED, True, "is refused without saying what is invalid, when it runs"),
        (Verdict.PROCESS_DEATH, True, "kills the process, when it runs"),
        (Verdict.ACCEPTS_INVALID, True, "is accepted though invalid"),
        (Verdict.UNSUPPORTED, False, "is not supported, when it runs"),
        (Verdict.WRONG_VALUE, False, "gives wrong values"),
    ],
)
def test_an_issue_says_what_happens_without_verdicts(
    verdict: Verdict, invalid: bool, predicate: str
) -> None:
    case = failing()
    if invalid:
        fault = Invalid("nn.conv2d_transpose", ("groups",))
        case = msgspec.structs.replace(case, expect=fault)
    repro = reproduction(case, Outcome(verdict, "run", message="a message"))
    title = title_text(repro, None)
    assert title.startswith(f"nn.conv2d_transpose {predicate} (")
    text = issue_text(repro, title, "pass\n", {})
    assert f"`relax.op.nn.conv2d_transpose` {predicate}:\n\n```\na message\n" in text
    assert verdict not in text


def test_titles_tell_the_unclear_errors_of_one_fault_apart() -> None:
    case = msgspec.structs.replace(failing(), expect=Invalid("nn.conv2d_transpose", ("batch",)))
    error = "Traceback\nValueError: The query batch size and the key batch size should be equal, 2"
    for message, title in (
        (error, '(batch: "The query batch size and the key batch size should …")'),
        ("RuntimeError: ", "(batch)"),
        ("", "(batch)"),
    ):
        repro = reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "emit", message=message))
        assert title_text(repro, None).endswith(title)
    accepted = reproduction(case, Outcome(Verdict.ACCEPTS_INVALID, "run", message=error))
    assert title_text(accepted, None).endswith("(batch)")


def test_alike_is_what_has_the_same_fingerprint_and_not_the_same_verdict() -> None:
    case, crash = failing(), Outcome(Verdict.OPAQUE_CRASH, "codegen", "nn.x", "TypeError: no")
    alike = fingerprint(signature_of(case, crash), {})
    other = msgspec.structs.replace(crash, message="ValueError: something else")
    record = Record(
        "It breaks",
        None,
        {name: {"off": Verdict.OPAQUE_CRASH} for name in ("0.24", "0.25", "0.26")} | {"0.27": {}},
        outcome=crash,
        alike={"0.25": fingerprint(signature_of(case, other), {}), "0.26": alike},
    )
    rows = {name: (item.verdict, item.alike) for name, item in releases(case, record).items()}
    assert rows == {
        "0.24": (Verdict.OPAQUE_CRASH, None),
        "0.25": (Verdict.OPAQUE_CRASH, False),
        "0.26": (Verdict.OPAQUE_CRASH, True),
        "0.27": (None, None),
    }


def test_a_folder_that_cannot_be_written_is_told_before_anything_runs(
    campaign: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("it ran")

    monkeypatch.setattr("relaxcheck.cli.actions.export.exported", never)
    monkeypatch.setattr("relaxcheck.cli.actions.export.export_all", never)
    Path("file").write_text("")
    for arguments in ((campaign.identifier,), ("--all",)):
        result = export(*arguments, "--out", "file/inside")
        assert result.exit_code == 2
        assert result.stderr.startswith("relaxcheck: cannot write to file/inside: ")
    assert not Path("file/inside").exists()


def test_a_title_without_attributes_names_what_is_not_as_usual() -> None:
    inputs = (Input("x", ("n", 0), "float16"), Input("y", ("n", 0), "float16"))
    case = Case("toy", Program(inputs, (Node("z", "add", ("x", "y")),), ("z",)), ({"n": 2},))
    title = title_text(reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "codegen")), None)
    assert title.endswith(", in code generation (symbolic n, empty x, empty y)")


def test_a_title_names_no_operator_that_does_not_matter() -> None:
    case = FAMILY.build(complete(FAMILY.axes, {**BLAME, "result": "relu"}), 3)
    repro = reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "codegen", message="no"))
    relu = Difference(Aspect.NODE, "nn.relu", True, None)
    attribution = Attribution(1, 1, (Condition((relu,), (Verdict.OPAQUE_CRASH,), 1),))
    assert title_text(repro, None).startswith("nn.conv2d_transpose + nn.relu raises")
    assert title_text(repro, attribution).startswith("nn.conv2d_transpose raises")
    text = issue_text(repro, "It", "", {}, attribution=attribution)
    assert "\n`relax.op.nn.conv2d_transpose` raises an error" in text
    assert "nn.relu`" not in text


def test_a_title_names_the_passes_that_run_first() -> None:
    case = msgspec.structs.replace(failing(), pipeline="mixed-precision")
    title = title_text(reproduction(case, LEFT), None)
    assert title.endswith('(groups=2, data_layout="NHWC", ToMixedPrecision)')


def test_a_title_names_what_a_campaign_blames_where_nothing_else_is_known() -> None:
    plain = family("attention", tuple(PIPELINES))
    case = plain.build(complete(plain.axes, {}), 0)
    repro = reproduction(case, Outcome(Verdict.WRONG_VALUE, "compare", message="off"))
    title = title_text(repro, None, {"group": "2", "kv_len": "0"})
    assert title == (
        "nn.attention gives wrong values (2 query heads per key/value head, key/value length 0)"
    )
    assert "2 query heads" not in title_text(reproduction(failing(), LEFT), None, {"group": "2"})


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ("emit", "unsupported, when the program is built"),
        ("codegen", "unsupported, in code generation"),
        ("FuseOps", "unsupported, in FuseOps"),
    ],
)
def test_a_title_says_where_in_words(stage: str, words: str) -> None:
    assert words in title_text(reproduction(failing(), Outcome(Verdict.OPAQUE_CRASH, stage)), None)


def test_a_title_names_what_was_found_to_be_to_blame() -> None:
    groups = Difference(Aspect.ATTRIBUTE, "groups", 2, 1)
    layout = Difference(Aspect.ATTRIBUTE, "data_layout", "NHWC", None)
    conditions = (
        Condition((groups,), (Verdict.PASS, Verdict.PASS), 0),
        Condition((layout,), (Verdict.PASS, Verdict.SILENT_BAIL), 1),
    )
    title = title_text(reproduction(failing(), LEFT), Attribution(2, 2, conditions))
    assert title.endswith("without an error (groups=2)")


def test_paths_of_this_machine_do_not_leave_it() -> None:
    line = 'File "/home/me/env/lib/python3.11/site-packages/tvm/relax/op.py", line 3, in /tmp/x.py'
    assert portable(line) == 'File "site-packages/tvm/relax/op.py", line 3, in /tmp/x.py'
    assert portable("  /usr/lib/python3.11/ast.py: no") == "  python3.11/ast.py: no"


def test_a_valid_program_that_is_refused_is_a_request_in_the_template_for_features() -> None:
    refused = Outcome(Verdict.UNSUPPORTED, "LegalizeOps", message="TypeError: no NHWC yet")
    repro = reproduction(failing(), refused)

    def first_line(**about: Any) -> str:
        return issue_text(repro, "It", "pass\n", {}, **about).partition("\n")[0]

    text = issue_text(repro, "It", "pass\n", {}, culprit=Culprit("X", Evidence.RAISED, "why"))
    assert text.startswith(f"{REQUEST} It\n")
    operator = "`relax.op.nn.conv2d_transpose`"
    assert f"\n### This issue is to track progress for support of {operator}\n" in text
    assert "\n- [ ] P1." in text
    assert text.endswith("* needs-triage\n* type:rfc-tracking\n")
    for words in ("Expected behavior", "Pass at fault", "bug"):
        assert words not in text
    # What works elsewhere is broken here.
    assert first_line(releases={"0.25": Came(Verdict.UNSUPPORTED)}) == f"{REQUEST} It"
    assert first_line(releases={"0.25": Came(Verdict.PASS)}) == f"{BUG} It"
    pipeline = Difference(Aspect.SETTING, "pipeline", "mixed-precision", "build")
    attribution = Attribution(1, 1, (Condition((pipeline,), (Verdict.PASS,), 0),))
    assert first_line(attribution=attribution) == f"{BUG} It"
    # Refused with another pipeline as well, in other words.
    attribution = Attribution(1, 1, (Condition((pipeline,), (Verdict.UNSUPPORTED,), 0),))
    assert first_line(attribution=attribution) == f"{REQUEST} It"
    invalid = msgspec.structs.replace(failing(), expect=Invalid("nn.conv2d_transpose", ("groups",)))
    assert issue_text(reproduction(invalid, refused), "It", "", {}).startswith(f"{BUG} It\n")


def test_an_issue_speaks_of_a_patch_only_where_there_is_one() -> None:
    repro = reproduction(failing(), LEFT)
    assert "fix.patch" not in issue_text(repro, "It", "pass\n", {})
    assert "so that this script exits with 0" in issue_text(repro, "It", "", {}, patched=True)


def test_no_pass_is_at_fault_for_an_invalid_program() -> None:
    fault = Invalid("nn.conv2d_transpose", ("groups",))
    case = msgspec.structs.replace(failing(), expect=fault)
    repro = reproduction(case, Outcome(Verdict.ACCEPTS_INVALID, "run", message="ran"))
    for name in ("LegalizeOps", None):
        text = issue_text(repro, "It", "", {}, culprit=Culprit(name, Evidence.DIRECT, "why"))
        assert "Pass at fault" not in text
    emitted = issue_text(repro, "It", "", {}, culprit=Culprit("emit", Evidence.EMIT, "TVM refuses"))
    assert "No pass has run: TVM refuses." in emitted


def test_a_title_names_no_setting_that_does_not_matter() -> None:
    groups = Difference(Aspect.ATTRIBUTE, "groups", 2, 1)
    attribution = Attribution(1, 1, (Condition((groups,), (Verdict.SILENT_BAIL,), 1),))
    title = title_text(reproduction(failing(), LEFT), attribution)
    assert title.endswith('without an error (data_layout="NHWC")')


def test_a_title_names_no_shape_that_a_call_has_to_have() -> None:
    nodes = (
        Node("y", "call_tir", ("x",), {"function": "backwards", "dtype": "float32"}),
        Node("z", "broadcast_to", ("y",), {"shape": ShapeValue((3,))}),
    )
    case = Case("toy", Program((Input("x", (3,), "float32"),), nodes, ("z",)))
    title = title_text(reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "codegen")), None)
    assert title.endswith(", in code generation")


def test_a_dtype_of_all_inputs_is_named_without_them() -> None:
    inputs = (Input("x0", (2,), "float64"), Input("x1", (2,), "float64"))
    case = Case("toy", Program(inputs, (Node("z", "add", ("x0", "x1")),), ("z",)))
    both = tuple(Difference(Aspect.DTYPE, name, "float64", "float32") for name in ("x0", "x1"))
    attribution = Attribution(1, 1, (Condition(both, (Verdict.PASS,), 0),))
    repro = reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "codegen", message="no"))
    assert title_text(repro, attribution).endswith(", in code generation (in float64)")
    one = Attribution(1, 1, (Condition(both[:1], (Verdict.PASS,), 0),))
    assert title_text(repro, one).endswith(", in code generation (x0 in float64)")
    # Nobody knows that it matters.
    assert title_text(repro, None).endswith(", in code generation")


def test_a_title_says_that_an_input_is_empty_beside_attributes() -> None:
    node = Node("z", "nn.pad", ("x",), {"pad_width": (1, 1), "pad_mode": "circular"})
    case = Case("toy", Program((Input("x", (0,), "float32"),), (node,), ("z",)))
    title = title_text(reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "emit")), None)
    assert title.endswith(', pad_mode="circular", empty input)')


def test_a_title_says_that_a_symbol_is_0() -> None:
    program = Program((Input("x", ("n",), "float32"),), (Node("z", "abs", ("x",)),), ("z",))
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", message="off")
    for size, ending in ((0, "(symbolic n, n = 0)"), (2, "(symbolic n)")):
        case = Case("toy", program, ({"n": size},))
        assert title_text(reproduction(case, wrong), None).endswith(ending)


def test_an_operator_is_not_named_as_a_condition_of_itself() -> None:
    inputs = (Input("x", (2, 2), "float32"),)
    nodes = (Node("y", "abs", ("x",)), Node("z", "exp", ("y",)))
    case = Case("toy", Program(inputs, nodes, ("z",)))
    exp = Difference(Aspect.NODE, "exp", True, None)
    attribution = Attribution(1, 1, (Condition((exp,), (Verdict.PASS,), 0),))
    repro = reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "codegen", message="no"))
    assert "together with" not in title_text(repro, attribution)


def test_two_failures_with_one_title_are_told_apart_in_words() -> None:
    titles = Titles()
    first, second = failing(), FAMILY.build(complete(FAMILY.axes, BLAME), 4)
    assert titles.add("It breaks", first, LEFT) == "It breaks"
    assert titles.add("It leaks", first, LEFT) == "It leaks"
    half = tuple(
        msgspec.structs.replace(tensor, dtype="float16") for tensor in second.program.inputs
    )
    program = msgspec.structs.replace(second.program, inputs=half)
    second = msgspec.structs.replace(second, program=program)
    assert titles.add("It breaks", second, LEFT) == "It breaks, in float16"
    crash = Outcome(Verdict.OPAQUE_CRASH, "FuseOps", message="ValueError: no such thing")
    assert titles.add("It breaks", first, crash) == "It breaks, in FuseOps"
    # The next ones have nothing that none of the others has: still, no title comes twice.
    more = [titles.add("It breaks", first, crash) for _ in range(3)]
    assert len({"It breaks", "It breaks, in FuseOps", *more}) == 5


@pytest.mark.parametrize(
    ("oracles", "words"),
    [
        ((), "gives what a reference of higher precision gives, within"),
        (("pytorch",), "gives what PyTorch and a reference of higher precision agree on, within"),
        (("pytorch", "onnxruntime"), "gives what PyTorch, ONNX Runtime and a reference of"),
    ],
)
def test_an_issue_names_those_who_agree(oracles: tuple[str, ...], words: str) -> None:
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", message="off", oracles=oracles)
    assert words in issue_text(reproduction(failing(), wrong), "It", "", {})
