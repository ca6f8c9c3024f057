"""TVM's importers, recorded: which variable each node of the framework's graph became.

Names differ between a graph and its Relax module; the objects that an importer holds do not. Each
module here wraps private functions of one importer, as the fixes left them.
"""
