"""`python -m harness.sim`: the same program as `harness-sim`."""

from __future__ import annotations

import sys

from harness.sim.main import main

sys.exit(main())
