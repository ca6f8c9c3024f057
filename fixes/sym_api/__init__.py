"""One spelling, over TVM with Relax and TIRx alone, of integer expressions and their analyzer.

Nothing in this package needs Relax: it is what cases about expressions go by.
"""
