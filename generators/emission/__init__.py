"""Programs and expressions as TVM objects: the only part of the generators that imports TVM."""
