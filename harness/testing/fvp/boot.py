"""The boot chain as text: what the three consoles show from reset to U-Boot, in the order of time.

Landmarks are those that TF-M, TF-A, OP-TEE and U-Boot print on this board, the two errors that every boot
shows among them (psci and FF-A are Linux's). Each line is one console and one text.
"""

from __future__ import annotations

from dataclasses import dataclass

NORMAL, SECURE, ENCLAVE = "host_terminal_0", "host_terminal_1", "secenc_terminal"
FIRST_BOOTS = 2  #: that provision the secure enclave's keys, before the one that goes on


@dataclass(frozen=True)
class Release:
    """Versions of the components of one firmware release."""

    tf_a: str
    tf_m: str
    op_tee: str
    u_boot: str
    linux: str


RELEASES = {
    "2026.05": Release(tf_a="2.14.1", tf_m="2.2.2", op_tee="4.9.0", u_boot="2025.10", linux="6.19.0"),
    "2025.12": Release(tf_a="2.13.0", tf_m="2.2.1", op_tee="4.7.0", u_boot="2025.04", linux="6.12.60"),
}

BOOT_ROM_LINES = (
    "[INF] Starting TF-M BL1_1",
    "[INF] Jumping to BL1_2",
    "[INF] Starting TF-M BL1_2",
    "[INF] Attempting to boot image 0",
)
PROVISIONING = (
    "[WRN] This device was provisioned with dummy keys. This device is NOT SECURE",
    "[INF] Provisioning finished, resetting",
)
NO_IMAGE = ("[ERR] BL2 image failed to validate", "[ERR] No bootable image found")


def enclave_boot(release: Release) -> tuple[str, ...]:
    """Return what the secure enclave shows after its boot ROM."""
    return (
        "[INF] BL2 image validated successfully",
        "[INF] Jumping to BL2",
        "[INF] Starting bootloader",
        "[INF] Swap type: none",
        "[INF] Bootloader chainload address offset: 0x0",
        "[INF] Jumping to the first image slot",
        f"Booting TF-M v{release.tf_m}",
        "[Sec Thread] Secure image initializing!",
    )


def before_bl31(release: Release) -> tuple[str, ...]:
    """Return what the secure world shows of BL2."""
    return (
        f"NOTICE:  BL2: v{release.tf_a}(release):v{release.tf_a}",
        "NOTICE:  BL2: Booting BL31",
        "ERROR:   mmap_add_region_check() failed. error -22",
    )


def from_bl31(release: Release) -> tuple[str, ...]:
    """Return what the secure world shows from BL31 on."""
    return (
        f"NOTICE:  BL31: v{release.tf_a}(release):v{release.tf_a}",
        "ERROR:   mmap_add_region_check() failed. error -22",
        "I/TC: ",
        f"I/TC: OP-TEE version: {release.op_tee} aarch64",
        "I/TC: Primary CPU initializing",
        "I/TC: Primary CPU switching to normal world boot",
    )
