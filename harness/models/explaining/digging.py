"""The smallest part of a model that fails as the model does, looked for in child processes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relaxcheck.harness.compiling.passes.stages import SilentBail, StageError
from relaxcheck.harness.compiling.watching import Progress
from relaxcheck.harness.models.compiling import RUN, Way, compiled, run
from relaxcheck.harness.models.explaining.alone import Alone, failing_alone
from relaxcheck.harness.models.explaining.cutting import Cut, cut
from relaxcheck.harness.models.explaining.traps import origins
from relaxcheck.harness.models.explaining.uses import made
from relaxcheck.harness.models.fault import Fault
from relaxcheck.harness.models.faults import SECONDS, Died, asked, left, raised
from relaxcheck.harness.models.forcing import Part
from relaxcheck.harness.models.imported import Imported
from relaxcheck.harness.models.pieces.running import difference
from relaxcheck.harness.models.stepping import Setting


@dataclass(frozen=True, slots=True)
class Trying:
    """The way to try a part: compiled, and run on the values of ``setting`` where there is one."""

    way: Way
    setting: Setting | None = None
    seconds: float = SECONDS

    def fault(self, part: Part) -> Fault | None:
        """The fault of ``part`` in a child process; None if it is right."""

        def question(progress: Progress) -> Fault | None:
            return self._fault(part, progress)

        try:
            return asked(question, self.seconds, Fault | None)  # type: ignore[arg-type]
        except Died as death:
            return death.fault

    def _fault(self, part: Part, progress: Progress) -> Fault | None:
        try:
            main = compiled(part.module, self.way, progress)
            if self.setting is None:
                return None
            progress(RUN)
            held = self.setting.held()
            results = run(main, [held[name] for name in part.inputs])
        except SilentBail as bail:
            return left(bail)
        except StageError as error:
            return raised(error.stage, error.cause)
        return difference(part.outputs, results, [held[name] for name in part.outputs])


def cut_by_fault(
    imported: Imported, fault: Fault, trying: Trying, progress: Progress
) -> tuple[Cut | None, tuple[Alone, ...]]:
    """The smallest part of a model with the ``fault``, and all steps that fail by themselves.

    A part that fails only because the shape of an operand was lost contains the step at which it
    was: that one is the cause.
    """
    alone = failing_alone(
        imported,
        trying.way,
        seconds=trying.seconds,
        progress=lambda stage, count: progress(f"{stage}, {count} nodes apart"),
    )
    lost = origins(imported.module)
    alike = [each for each in alone if fault.alike(each.fault)]
    first = next((each for each in alike if not each.behind), next(iter(alike), None))
    last = "" if first is None else first.step.variable
    origin = lost.get(last, "")

    def fails(part: Part) -> bool:
        return (not origin or origin in made(part.module)) and fault.alike(trying.fault(part))

    show = showing(progress)
    if first is not None and not origin:
        # It fails alone, so that nothing before it is needed.
        smallest = cut(imported, fails, within=(last,), show=show)
    else:
        smallest = cut(imported, fails, last=last, show=show)
    return smallest, alone


def cut_by_steps(
    imported: Imported, variables: Sequence[str], trying: Trying, progress: Progress
) -> Cut | None:
    """The smallest part of the steps ``variables`` that is wrong, or fails, on its own."""
    return cut(
        imported,
        lambda part: trying.fault(part) is not None,
        within=variables,
        show=showing(progress),
    )


def showing(progress: Progress) -> Callable[[int, int], None]:
    """The function that tells ``progress`` how far a cut is."""

    def show(tries: int, steps: int) -> None:
        progress(f"cut: {tries} tries, {steps} nodes left")

    return show
