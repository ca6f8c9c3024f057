"""The reference's operators, one module for each group; every module here is loaded."""
