"""`python -m interpulse`: the command line."""

from interpulse.cli import main

if __name__ == "__main__":
    main()
