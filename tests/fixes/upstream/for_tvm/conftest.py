"""These tests are for TVM, with the patches: test_export.py runs them there.

What they say of a TVM without any fix is held against the probes in test_probes_truth.py.
"""

collect_ignore_glob = ["**/test_*.py"]
