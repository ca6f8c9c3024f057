"""The wall clock jumps as it likes: no deadline and no budget is kept by it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.faults.campaigns import Campaigns, Summary, arguments, check_whole, summary

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

/* Every second look at the wall clock is two days later than the one before. */
static long jump(void) { static unsigned looks; return looks++ % 2 ? 172800 : -172800; }

int clock_gettime(clockid_t which, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int failed = real(which, now);
  if (which == CLOCK_REALTIME) now->tv_sec += jump();
  return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec precise;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *where) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (where) *where = precise.tv_sec;
  return precise.tv_sec;
}
"""


@pytest.fixture(scope="module")
def jumping(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A library that makes the wall clock jump, to be loaded before all others."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler to make the clock jump with")
    folder = tmp_path_factory.mktemp("clock")
    (folder / "jump.c").write_text(SOURCE)
    library = folder / "jump.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", library, folder / "jump.c", "-ldl"], check=True
    )
    return str(library)


def test_the_clock_does_jump(jumping: str, campaigns: Campaigns) -> None:
    script = "import time; print(time.time() - time.time(), time.monotonic() - time.monotonic())"
    campaigns.environment |= {"LD_PRELOAD": jumping}
    ended = subprocess.run(
        ["python3", "-c", script], env={"LD_PRELOAD": jumping}, capture_output=True, check=True
    )
    wall, monotonic = map(float, ended.stdout.split())
    assert abs(wall) > 172800
    assert abs(monotonic) < 1


def test_a_campaign_does_not_mind(
    campaigns: Campaigns, undisturbed: Summary, jumping: str, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    first = campaigns.run(*arguments(), "--out", folder, LD_PRELOAD=jumping)
    assert first.returncode == 1, first.stdout + first.stderr
    check_whole(folder)
    assert summary(folder) == undisturbed


@pytest.mark.slow
def test_a_deadline_is_kept(campaigns: Campaigns, jumping: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    ended = campaigns.run(
        *("fuzz", "conv1d_transpose", "--cases", 8, "--minutes", 2, "--seed", 5, "--workers", 2),
        *("--out", folder, "--case-seconds", 1),
        LD_PRELOAD=jumping,
        MISBEHAVE="hang",
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    verdicts = {verdict for _, verdict, _ in summary(folder)[0]}
    assert Verdict.TIMEOUT in verdicts
    assert Verdict.PASS in verdicts
