"""`python -m netloom`."""

from netloom.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
