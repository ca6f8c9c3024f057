"""A zygote in whose TVM two faults of earlier releases are back."""

from harness import zygote
from tests.quality.historic import put_back

if __name__ == "__main__":
    put_back()
    zygote.main()
