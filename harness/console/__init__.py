"""The channel to a board and the record protocol spoken on it."""
