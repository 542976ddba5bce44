"""Makes the stored digests anew: `python -m harness.models.digests`, where tflite-micro can be installed.

To be run after a reference network or the pinned tflite-micro has changed; it rewrites the file
`reference_digests.json` beside this module.
"""

from __future__ import annotations

import json

from harness.models.catalog import load_model
from harness.models.reference import DIGESTS_FILE, input_digest, reference_outputs, standard_inputs
from harness.models.reference_networks import NETWORKS
from harness.models.vela import compile_model


def compute_digests() -> dict[str, dict[str, list[str]]]:
    """The digests of every reference network's outputs for its standard inputs, computed by tflite-micro.

    Raises ValueError when tflite-micro is not there to compute them.
    """
    content: dict[str, dict[str, list[str]]] = {}
    for name in NETWORKS:
        source = load_model(name)
        compiled = compile_model(source)
        inputs = standard_inputs(compiled)
        result = reference_outputs(compiled, inputs)
        if result.outputs is None or result.digests is None:
            raise ValueError(f"tflite-micro did not compute the outputs of {name}: {result.oracle}")
        pairs = zip(inputs, result.digests, strict=True)
        content[source.sha256] = {input_digest(each): list(digests) for each, digests in pairs}
    return content


if __name__ == "__main__":
    DIGESTS_FILE.write_text(json.dumps(compute_digests(), indent=1) + "\n")
