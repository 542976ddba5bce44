"""Run by a model for each of its terminals: `record_port.py FILE PORT` puts the number into a file."""

import sys
from pathlib import Path

file, port = sys.argv[1:]
new = Path(f"{file}.new")
new.write_text(port)
new.replace(file)
