"""What records declare beside their points: the names and types of attributes, their faults."""

import re
from typing import get_args, get_type_hints

from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.record import Attribute

TYPES = get_args(get_type_hints(Attribute)["type"])


def test_attributes_have_a_name_and_a_type() -> None:
    for name, record in OPERATORS.items():
        attributes = record.attributes
        assert all(attribute.type in TYPES for attribute in attributes), (name, attributes)
        names = {attribute.name for attribute in attributes if isinstance(attribute.name, str)}
        assert len(names) == len(attributes), (name, attributes)


def test_faults_have_a_kind_and_names_and_break_numbers() -> None:
    for name, record in OPERATORS.items():
        assert len({fault.kind for fault in record.faults}) == len(record.faults), name
        for fault in record.faults:
            assert re.fullmatch("[a-z0-9_]+(-[a-z0-9_]+)*", fault.kind), (name, fault.kind)
            assert fault.names, (name, fault.kind)
            assert all(isinstance(each, str) for each in fault.names), (name, fault.kind)
            pins = [pin for axis, pin in fault.pinned.items() if axis.startswith("symbolic.")]
            assert not any(pins), (name, fault.kind)
