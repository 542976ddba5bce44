"""The built-in simulator: a Corstone-1000 with Cortex-A320 and Ethos-U85, a program of its own."""
