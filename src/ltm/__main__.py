"""`python -m ltm` is `ltm`."""

from ltm.cli.main import main

main()
