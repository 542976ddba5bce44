"""Corstone harness: tests of Ethos-U runtimes and drivers on a simulated or real Corstone-1000."""

__version__ = "0.1.0"
