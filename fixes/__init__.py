"""What stands between us and a TVM release: one file a fix, each undone by ``uninstall()``."""
