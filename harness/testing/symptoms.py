"""What is known to go wrong with launching FVPs, each as a switch of the stand-in.

Where a report is public it is named. docs/mock-fvp.md says what a harness should make of each.
"""

from __future__ import annotations

from enum import StrEnum


class Symptom(StrEnum):
    """One way in which a model, or what it boots, misbehaves."""

    # How ports are announced. With these the model does not run `terminal_command`.
    NO_CALLBACK = "no-callback"  #: ports are announced on standard output alone
    LATE_PORTS = "late-ports"  #: they come a while after the start
    GLUED_PORTS = "glued-ports"  #: without line ends between them (tf-a-ci 17df7f56)
    HALF_PORT = "half-port"  #: a number is written in two pieces (meta-arm's launcher)
    NEW_FORM = "new-form"  #: `INFO: MODEL: terminal: …` (meta-arm 5adb3155)
    MISSING_PORT = "missing-port"  #: one is never announced (OP-TEE/optee_os#3040)

    # How the model ends.
    DIES_BEFORE_PORTS = "dies-before-ports"  #: pytorch/executorch#22316
    DIES_IN_BOOT = "dies-in-boot"
    DIES_IN_RECORD = "dies-in-record"
    EXIT_CODE_LOST = "exit-code-lost"  #: dies in a record, with status 0 (meta-arm 6fa59924)
    LIMIT_REACHED = "limit-reached"  #: says so, and ends with 0 (pytorch/executorch#7568)
    TAIL_LOST = "tail-lost"  #: the last output never comes (LAVA d359a639d)
    STAYS_AFTER_EOT = "stays-after-eot"  #: tf-a-ci 40fa01aa
    IGNORES_SIGNALS = "ignores-signals"  #: SIGINT and SIGTERM (apache/tvm#12125, meta-arm 6481a473)
    SURVIVING_CHILD = "surviving-child"  #: xterm or telnet outlive the model
    HANGS_IN_BOOT = "hangs-in-boot"  #: tensorflow/tflite-micro#193
    HANGS_IN_RECORD = "hangs-in-record"

    # What a start depends on.
    E549 = "e549"  #: glibc 2.41 refuses its libraries (arm-learning-paths#2038)
    RENAMED_PARAMETER = "renamed-parameter"  #: board.xnvm_size is called otherwise (zephyr#43845)
    STALE_NVM = "stale-nvm"  #: boot hangs where an earlier run's nvm_image.bin lies (TF-M's documentation)

    # What consoles do.
    CHATTY = "chatty"  #: megabytes on every console and on standard output: stalls when one is not read
    TELNET_BYTES = "telnet-bytes"  #: option negotiation although the mode is raw
    ANSI = "ansi"  #: colours and cursor movements
    BARE_CR = "bare-cr"  #: lines that end with CR alone, or are overwritten
    SPLIT_UTF8 = "split-utf8"  #: characters cut in two by the pieces they come in
    SLOW_CONSOLE = "slow-console"  #: of what is typed at once only the first character arrives (LAVA)
    DEATH_STRING = "death-string"  #: firmware gives up on its console, and the model runs on
    KERNEL_PANIC = "kernel-panic"
    LOAD_FAILS = "load-fails"  #: U-Boot does not find the file
