"""`python -m services.cli` is `marias`."""

from services.cli import main

main()
