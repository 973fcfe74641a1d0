"""Finished deals in files, whole and verified, so that the store need not keep them."""
