"""The importer's walk over a graph: values of shapes, functions, graphs within graphs."""
