"""A zygote that is never done with its imports."""

import time

if __name__ == "__main__":
    time.sleep(600)
