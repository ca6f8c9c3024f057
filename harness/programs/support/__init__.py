"""The support table: what relaxcheck knows of each operator of Relax."""
