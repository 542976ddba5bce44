"""What is known to go wrong with FVPs and with what they boot, each as a switch of the stand-in.

A symptom says what is seen from outside, and who reported it: a bug tracker (project#number), a commit
(project and first digits) or the program that guards against it.
"""

from __future__ import annotations

from enum import Enum


class Symptom(Enum):
    """One way in which a model, or what it boots, misbehaves."""

    text: str  #: what is seen
    source: str  #: where it was reported

    def __new__(cls, name: str, text: str, source: str) -> Symptom:
        """Make a member whose value is its name on paper."""
        member = object.__new__(cls)
        member._value_ = name
        member.text = text
        member.source = source
        return member

    # How ports are announced. With these, up to MISSING_PORT, `terminal_command` is not run.
    NO_CALLBACK = "no-callback", "ports are announced on stdout alone", "meta-arm runner.py"
    LATE_PORTS = "late-ports", "they are announced a while after the start", "tf-a-ci run_package.sh"
    GLUED_PORTS = "glued-ports", "all announcements stand on one line", "tf-a-ci 17df7f56"
    HALF_PORT = "half-port", "each announcement is cut in two within the number", "meta-arm runner.py"
    NEW_FORM = "new-form", "announcements begin with `INFO: FVP_…: `", "meta-arm 5adb3155"
    MISSING_PORT = "missing-port", "host_terminal_1 is never announced", "OP-TEE/optee_os#3040"
    SHUFFLED_PORTS = "shuffled-ports", "the terminals come in another order", "tf-a-ci 17df7f56"
    SUBSTRING_NAMES = "substring-names", "more terminals, whose names contain another's", "tf-a-ci ead5bea0"

    # How the model ends, or does not.
    DIES_BEFORE_PORTS = "dies-before-ports", "ends with 1 before it announces a port", "executorch#22316"
    DIES_IN_BOOT = "dies-in-boot", "ends with 1 between BL2 and BL31", "apache/tvm#10300"
    DIES_IN_RECORD = "dies-in-record", "ends with 1 in the middle of a program's line", "apache/tvm#10300"
    CRASHES_IN_RECORD = "crashes-in-record", "SIGSEGV in the middle of a program's line", "apache/tvm#10777"
    EXIT_CODE_LOST = "exit-code-lost", "ends with 0 in the middle of a program's line", "meta-arm 6fa59924"
    ENDS_IN_BOOT = "ends-in-boot", "ends with 0 between BL2 and BL31, without a word", "executorch#22316"
    LIMIT_REACHED = "limit-reached", "names a limit between BL2 and BL31, and ends with 0", "executorch#7568"
    LIMIT_IN_RECORD = "limit-in-record", "does so in the middle of a program's line", "executorch#7568"
    TAIL_LOST = "tail-lost", "the last bytes of a program never arrive", "LAVA d359a639d"
    STAYS_AFTER_EOT = "stays-after-eot", "goes on after EOT, shutdown_on_eot or not", "tf-a-ci 40fa01aa"
    IGNORES_SIGNALS = "ignores-signals", "neither SIGINT nor SIGTERM ends it", "meta-arm 6481a473"
    IGNORES_SIGTERM = "ignores-sigterm", "SIGTERM does not end it, SIGINT does", "meta-arm 6481a473"
    SURVIVING_CHILD = (
        "surviving-child",
        "has a child that ignores signals and keeps stdout",
        "apache/tvm#12125",
    )
    HANGS_IN_BOOT = "hangs-in-boot", "does nothing after BL31: U-Boot never speaks", "OP-TEE/optee_os#3450"
    HANGS_IN_RECORD = "hangs-in-record", "does nothing more within a program's line", "tflite-micro#193"

    # What a start depends on.
    E549 = "e549", "glibc refuses its libraries: error E549, status 1", "arm-learning-paths#2038"
    RENAMED_PARAMETER = "renamed-parameter", "board.xnvm_size is called board.xnvm.size", "zephyr#43845"
    STALE_NVM = "stale-nvm", "hangs where an earlier run's nvm_image.bin lies", "TF-M corstone1000 readme"
    HOST_PORT_TAKEN = "host-port-taken", "a port of the user network is taken: status 1", "meta-arm db5a3093"
    FOREIGN_PYTHON = "foreign-python", "PYTHONPATH or a foreign PYTHONHOME ends it", "SDS-Framework#137"
    NEEDS_PYTHONHOME = "needs-pythonhome", "ends without its own PYTHONHOME", "arm-toolchain#76"

    # What consoles do.
    CHATTY = "chatty", "says more on stdout and consoles than is kept, and waits", "LAVA 1d9007327"
    EARLY_OUTPUT_LOST = "early-output-lost", "without a client, output is lost", "tf-a-ci run_package.sh"
    BYTE_BY_BYTE = "byte-by-byte", "consoles send each byte by itself", "LAVA bdb9a6d00"
    HANGS_UP = "hangs-up", "host_terminal_0 closes its connection between BL2 and BL31", "LAVA fvp.py"
    TELNET_BYTES = "telnet-bytes", "telnet's options greet a client, even in raw mode", "Shrinkwrap"
    TELNET_NOISE = "telnet-noise", "telnet commands stand in the text, even in raw mode", "tuxlava"
    ANSI = "ansi", "boot text has colours and clears the screen", "ML-examples runfvp.py"
    BARE_CR = "bare-cr", "boot text overwrites itself after CR, and ends lines with CR CR LF", "run_fvp.sh"
    SPLIT_UTF8 = "split-utf8", "characters beyond ASCII come in two pieces", "labgrid"
    SLOW_CONSOLE = "slow-console", "of what is typed at once 16 bytes arrive", "LAVA test_character_delay"
    DEATH_STRING = "death-string", "TF-M refuses BL2, and the model runs on", "meta-arm fvp_boot.py"
    ENCLAVE_FATAL = "enclave-fatal", "TF-M reports a fatal error, and the model runs on", "TF-M"
    FIRMWARE_PANIC = "firmware-panic", "BL31 has an unhandled exception, and the model runs on", "TF-A"
    KERNEL_PANIC = "kernel-panic", "Linux panics before its login", "zephyr#104035"
    KERNEL_HANGS = "kernel-hangs", "Linux says nothing after its EFI stub", "tuxrun d1f4831"
    LOAD_FAILS = "load-fails", "U-Boot does not find a file that is there", "meta-arm e04ac672"
