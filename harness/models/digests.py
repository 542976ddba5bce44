"""Makes the stored digests anew: `python -m harness.models.digests`, where tflite-micro can be installed.

To be run after a reference network or the pinned tflite-micro has changed; it rewrites the file
`reference_digests.json` beside this module.
"""

from __future__ import annotations

import json

from harness.models.inputs import seeded_inputs
from harness.models.oracle import tflite_micro_outputs
from harness.models.reference import DIGESTS_FILE, input_digest, output_digests
from harness.models.reference_networks import NETWORKS, reference_network
from harness.models.tflite_file import read_tflite


def compute_digests() -> dict[str, dict[str, list[str]]]:
    """The digests of every reference network's outputs for its standard inputs, computed by tflite-micro.

    Raises ModelError when tflite-micro cannot compute them.
    """
    content: dict[str, dict[str, list[str]]] = {}
    for name, network in NETWORKS.items():
        data = reference_network(name)
        sizes = [tensor.size for tensor in read_tflite(name, data).input_tensors]
        inputs = [seeded_inputs(sizes, label) for label in ("A", "B")]
        outputs = tflite_micro_outputs(name, data, [each.tensors for each in inputs])
        content[network.sha256] = {
            input_digest(given): list(output_digests(computed))
            for given, computed in zip(inputs, outputs, strict=True)
        }
    return content


if __name__ == "__main__":
    DIGESTS_FILE.write_text(json.dumps(compute_digests(), indent=1) + "\n")
