"""``relaxcheck releases``: releases and builds of TVM side by side."""
