"""A zygote in whose TVM two faults of earlier releases are back."""

from relaxcheck.harness.workers import zygote
from tests.measure.quality.planted.historic import put_back

if __name__ == "__main__":
    put_back()
    zygote.main()
