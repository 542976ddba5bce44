"""Writes docs/npu-tosa.md anew: `python -m tests.tosa`."""

from __future__ import annotations

from . import document

document.FILE.write_text(document.render())
