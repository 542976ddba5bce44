"""`python -m harness.testing.fvp`: what the executable of a MockFvp starts."""

import sys

from harness.testing.fvp.program import main

sys.exit(main(sys.argv[1:]))
