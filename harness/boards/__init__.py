"""Where it runs: board files, and the program or hardware that a board file describes."""
