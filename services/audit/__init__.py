"""The audit: every table from its first event to its last, decided again, and all that was made of it compared."""
