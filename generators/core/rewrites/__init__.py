"""Programs rewritten: at fixed sizes, with other dimensions, with calls written out."""
