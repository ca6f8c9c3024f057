"""Functions beside the operators of Relax that a program calls: of TIR, and packed ones."""
