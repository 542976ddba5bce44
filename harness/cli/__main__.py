"""`python -m harness.cli`: the `harness` command by this interpreter."""

from harness.cli import main

main()
