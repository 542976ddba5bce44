"""What can be asked of one compiled network: its commands, outputs and cycles, and how two of them differ."""
