"""Seeded defects of firmware and driver, run through the matrix: each must be caught by a named check."""
