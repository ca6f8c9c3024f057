"""``python -m tests.measure.quality.models.planting NAME``: a check with a fault in TVM.

The job comes on standard input, as for ``relaxcheck.harness.models.child``.
"""

import sys

from relaxcheck.harness.models import child
from tests.measure.quality.models.plants import named
from tests.measure.quality.planted.plant import Plant, sow

if __name__ == "__main__":
    plant = named(sys.argv[1])
    sow([Plant(plant.name, plant.description, (), (), plant.edits)])
    child.main()
