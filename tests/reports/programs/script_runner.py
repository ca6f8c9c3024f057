"""Runs scripts, each in a process of its own, forked from one that has imported what they import.

``python script_runner.py FILE…`` prints a JSON object: file to (exit code, output). A script that
imports this project, which may be installed beside TVM, exits with 99.
"""

import contextlib
import json
import os
import runpy
import sys
import traceback

import numpy  # noqa: F401
import torch  # noqa: F401
from tvm import relax  # noqa: F401
from tvm.script import relax as script  # noqa: F401

PROJECT = {"fixes", "generators", "harness", "oracles", "reports"}


def run(path: str) -> None:
    sys.argv = [path]
    sys.path[0] = os.path.dirname(path)
    code = 0
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        # As the interpreter does with an exception that nobody catches.
        traceback.print_exc()
        code = 1
    if ours := PROJECT & sys.modules.keys():
        print("imports this project:", *sorted(ours))
        code = 99
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def outcome(path: str) -> tuple[int, str]:
    with open(f"{path}.out", "w+") as output:
        pid = os.fork()
        if pid == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            run(path)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        output.seek(0)
        return code, output.read()


if __name__ == "__main__":
    print(json.dumps({path: outcome(path) for path in sys.argv[1:]}))
