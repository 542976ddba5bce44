"""What to run: model files, the compiler, the generated reference networks and their reference outputs."""
