"""The command ``azul-fast``, also ``python -m azul_fast``: the rest is imported where Ctrl-C is already one line."""

import os


def main() -> None:
    """Run the command line and end the process."""
    try:
        from azul_fast.cli.main import main as run
    except KeyboardInterrupt:
        os.write(2, b"azul-fast: interrupted\n")
        os._exit(130)
    run()


if __name__ == "__main__":
    main()
