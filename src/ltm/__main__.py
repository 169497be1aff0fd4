"""`python -m ltm` is `ltm`."""

from ltm.surfaces.start import main

main()
