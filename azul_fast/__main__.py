"""``python -m azul_fast``: the command line."""

from azul_fast.cli.main import main

main()
