"""Worker processes: the pool, the zygote, the protocol between them."""
