"""Records of other programs, read into our own."""
