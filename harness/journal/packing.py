"""Records in a journal: JSON, packed against a text that most of them resemble.

A case and its outcome take a fifth of the room so, and a million of them less than a GiB.
"""

import zlib

_LIKE = (
    b'{"also":["normal","exact","boundary"],"at":{"dtype":"float32","rank":2,"sizes":"usual",'
    b'"symbolic":"first"},"bindings":[{"m":1},{"m":0},{"m":2},{"m":3}],"exec_mode":"compiled",'
    b'"expect":{"type":"valid"},"family":"","fixes":false,"format":1,"opt_level":0,"pipeline":'
    b'"default-pipeline","program":{"inputs":[{"constant":false,"dtype":"float32","fill":{"type":'
    b'"random"},"name":"x0","shape":["m"]}],"nodes":[{"arguments":["x0"],"attributes":{"axis":-1,'
    b'"out_dtype":"float32"},"name":"n0_0","operator":"nn."}],"outputs":["n0_0"]},"regime":'
    b'"normal","seed":2508630063}{"verdict":"pass","stage":null,"operator":null,"message":"",'
    b'"checks":[{"binding":{"m":1},"output":"n0_0","ratio":0.0,"oracles":["pytorch","onnxruntime"],'
    b'"elements":1,"unconstrained":0,"regime":"exact"},{"binding":{"m":0},"output":"n0_0","ratio":'
    b'null,"oracles":["pytorch"],"elements":0,"unconstrained":0,"regime":"normal"}],"oracles":['
    b'"pytorch","onnxruntime"],"unsupported_oracles":{},"seconds":{"tvm":0.05933656807142866,'
    b'"oracles":0.008860802999999973,"compare":0.0001411549999998929},"environment":{},"retried":"",'
    b'"reference":null,"release":"","elsewhere":{},"expected_by":"","cause":"","smallest":null,'
    b'"checked":0,"parts":[],"ending":null,"details":{"worst":{"actual":0.0,"expected":0.0,"bound":'
    b'0.0,"dtype":"float32"},"sources":{"release":"","lowerings":{"nn.":{"file":'
    b'"python/tvm/relax/transform/legalize_ops/nn.py","line":0,"function":"_nn_"}}}}}'
)
"""Part of the format: another text cannot read what this one packed."""

_LEVEL = 6
_MOST = 2**28
"""Bytes of a record: a damaged or hostile one must not fill the memory."""


class PackingError(ValueError):
    """A record is damaged; the message says how."""


def pack(record: bytes) -> bytes:
    """``record``, a text of JSON, in fewer bytes."""
    packing = zlib.compressobj(_LEVEL, zdict=_LIKE)
    return packing.compress(record) + packing.flush()


def unpack(packed: bytes | str) -> bytes:
    """The text of JSON that ``packed`` holds, or that it is: journals of format 4 hold it plain.

    Raises:
        PackingError: it is neither, or too large.
    """
    if isinstance(packed, str):
        # SQLite keeps what a person writes there as text.
        return packed.encode()
    if not packed.startswith(_PACKED):
        return packed
    unpacking = zlib.decompressobj(zdict=_LIKE)
    try:
        record = unpacking.decompress(packed, _MOST)
    except zlib.error as error:
        raise PackingError(f"it cannot be unpacked: {error}") from error
    if not unpacking.eof:
        raise PackingError("it cannot be unpacked: it is cut off, or too large")
    return record


_PACKED = pack(b"{}")[:1]
"""The byte with which all that is packed begins, as no text of JSON does."""
