"""The program behind `MockFvp`: started by its executable, never imported by a test."""
