"""Extensions: code of a user's own that runs in place of ours or TVM's, or beside it.

A name such as ``package:function`` stands for it (``naming``). A process imports only what its user
named on the command line (``pipelines``) or what an installed package registers as an entry point
(``entry_points``): never what a case file names by itself.
"""
