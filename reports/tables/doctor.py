"""The page of ``relaxcheck releases doctor``: a complaint to a paragraph, the gravest first."""

from collections.abc import Iterator

from relaxcheck.harness.releases.doctor.diagnosing import Complaint, Diagnosis
from relaxcheck.harness.releases.doctor.effects import EVERYTHING
from relaxcheck.harness.wording import plural

_MOST_PLACES = 3


def lines(found: Diagnosis, title: str) -> Iterator[str]:
    """The page, by lines; ``title`` names the release."""
    looked = ", ".join(f"{number} {sort}" for sort, number in found.looked.items())
    yield f"{title}: {found.version or 'no TVM'}, compared with {found.compared}: {looked}"
    if found.error:
        yield f"importing tvm raised {found.error}"
    for line in found.extensions:
        yield f"extension that cannot be used: {line}"
    if not found.complaints:
        yield "All of them are there, and can be called as relaxcheck calls them."
        return
    counts = {
        wrong: sum(each.wrong == wrong for each in found.complaints)
        for wrong in ("missing", "moved", "changed")
    }
    yield ", ".join(f"{number} {wrong}" for wrong, number in counts.items() if number)
    for complaint in sorted(found.complaints, key=_gravity):
        yield from _paragraph(complaint)


def _gravity(complaint: Complaint) -> tuple[bool, str]:
    return EVERYTHING not in complaint.stops, complaint.name


def _paragraph(complaint: Complaint) -> Iterator[str]:
    now = f": {complaint.now}" if complaint.now else ""
    yield f"\n{complaint.wrong} {complaint.what} {complaint.name}{now}"
    if complaint.stops:
        yield f"  stops: {'; '.join(complaint.stops)}"
    if complaint.places:
        shown = [place.removeprefix("relaxcheck.") for place in complaint.places[:_MOST_PLACES]]
        more = len(complaint.places) - len(shown)
        rest = f" and {plural(more, 'more place')}" if more else ""
        yield f"  used in {', '.join(shown)}{rest}"
