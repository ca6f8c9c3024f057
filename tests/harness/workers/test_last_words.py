"""The last output of a process that died: whole lines, without CPython's own stack frames."""

import os
from pathlib import Path

import pytest

from relaxcheck.harness.workers.processes import _LAST_BYTES, _LAST_WORDS, _end_of

FRAMES = """\
!!!!!!! Segfault encountered !!!!!!!
  File "./signal/../sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c", line 0, in 0x00007f6375c5a04f
  File "Objects/call.c", line 214, in _PyObject_MakeTpCall
  File "<unknown>", line 0, in PyObject_Vectorcall
  File "<unknown>", line 0, in _PyFunction_Vectorcall
  File "<unknown>", line 0, in Py_RunMain
  File "<unknown>", line 0, in _start
"""


def last(folder: Path, text: str) -> str:
    path = folder / "log"
    path.write_text(text)
    with path.open() as file:
        return _end_of(file.fileno(), os.fstat(file.fileno()).st_size)


@pytest.mark.parametrize(
    "frame",
    [
        'File "tvm/relax/op.py", line 3, in call',
        'File "/workspace/tvm/src/relax/op/nn/nn.cc", line 1033, in tvm::relax::InferType(...)',
        'File "<unknown>", line 0, in tvm::relax::InferType(...)',
    ],
)
def test_frames_of_the_interpreter_go_and_others_stay(tmp_path: Path, frame: str) -> None:
    assert last(tmp_path, f"  {frame}\n{FRAMES}") == (
        f"{frame}\n!!!!!!! Segfault encountered !!!!!!!"
    )


def test_a_long_output_begins_with_a_whole_line(tmp_path: Path) -> None:
    lines = [f"line {number} of many" for number in range(_LAST_BYTES // 8)]
    end = last(tmp_path, "\n".join(lines))
    assert 0 < len(end) <= _LAST_WORDS
    assert end.splitlines()[0] in lines
    assert end.splitlines()[-1] == lines[-1]


def test_a_line_without_end_is_cut(tmp_path: Path) -> None:
    assert last(tmp_path, "x" * 3 * _LAST_BYTES) == "…" + "x" * (_LAST_WORDS - 1)
    cause = "c" * _LAST_WORDS
    assert last(tmp_path, f"{cause}\nabort") == "…" + "c" * (_LAST_WORDS - 7) + "\nabort"


def test_the_cause_before_a_long_trace_of_the_interpreter_stays(tmp_path: Path) -> None:
    frames = '  File "Objects/call.c", line 214, in _PyObject_MakeTpCall\n' * 1300
    assert last(tmp_path, f"assertion failed\n{frames}") == "assertion failed"


def test_nothing_is_nothing(tmp_path: Path) -> None:
    assert last(tmp_path, "") == ""
