"""Prints and writes what executor_runner does, without a model; `--symptom` has it do so wrongly.

Its output is the sum of its first two inputs, byte by byte.
"""

import os
import signal
import sys
from pathlib import Path


def run(options: dict[str, str]) -> int:
    symptom, count = options.get("symptom", ""), int(options["num_executions"])
    if symptom == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if symptom == "hang":
        signal.pause()
    if symptom == "fails" or not Path(options["model_path"]).read_bytes():
        sys.stderr.write("E 00:00:00.000100 executorch:executor_runner.cpp:480] Failed to parse model file\n")
        return 1
    left, right = (Path(name).read_bytes() for name in options["inputs"].split(","))
    output = bytearray((a + b) % 256 for a, b in zip(left, right, strict=True))
    if symptom == "stale" and count > 1:
        output[-1] ^= 1
    if symptom == "other-bytes":
        output[0] ^= 1
    for number in range(1, count + 1):
        log_inference(options, symptom, number, count)
    give_outputs(options, symptom, bytes(output))
    return 0


def log_inference(options: dict[str, str], symptom: str, number: int, count: int) -> None:
    cycles = {"no-cycles": 0, "other-cycles": 1235, "drift": 1234 + number}.get(symptom, 1234)
    sys.stderr.write(
        "I 00:00:00.001234 executorch:EthosUBackend_Cortex_A.cpp:321] "
        f"Ethos-U Linux delegate cycle counter: {cycles}\n"
    )
    if symptom == "kernel-message":
        sys.stderr.write("[   12.345678] ethosu 1a050000.ethosu: message\n")
    if symptom != "lost-line" or number < count:
        sys.stderr.write(
            "I 00:00:00.002345 executorch:executor_runner.cpp:500] "
            f"Iteration {number} of {count}: {float(options.get('ms', '2.6')):f} ms\n"
        )


def give_outputs(options: dict[str, str], symptom: str, output: bytes) -> None:
    if "output_file" not in options:
        items = ", ".join(str(byte - 256 if byte > 127 else byte) for byte in output)
        sys.stdout.write(f"OutputX 0: tensor(sizes=[1, {len(output)}], [{items}])\n")
    elif symptom != "no-file":
        written = output[:-1] if symptom == "short-file" else output
        Path(f"{options['output_file']}-0.bin").write_bytes(written)


sys.exit(run(dict(word.removeprefix("--").split("=", 1) for word in sys.argv[1:])))
