"""The log of finished deals as others can check it: leaves, signed heads, and what is kept outside the store."""
