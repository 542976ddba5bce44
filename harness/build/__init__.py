"""From a plan to a firmware image: rendered sources, a toolchain, a checked ELF, kept by its content."""
