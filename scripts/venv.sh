# Read by scripts/azul-fast, scripts/study and scripts/test, which have set `scripts`; sets `root`, `venv` and `ensure_venv`.
#
# .venv/made-LEVEL says what .venv was made from: the files below, the folder it lies in and the interpreter. While
# that still holds nothing else is looked at; otherwise make_venv.py makes .venv again, one process at a time.

root=$(dirname "$scripts")
venv=$root/.venv

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# Prints the first Python that will do, preferring those that the pinned versions have wheels for.
find_python() {
    ensurepip_missing=
    for newest in 14 99; do
        for name in python3 python3.14 python3.13 python3.12 python3.11; do
            found=$(command -v "$name" 2>/dev/null) || continue
            "$found" -c "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, $newest))" 2>/dev/null ||
                continue
            if "$found" -c 'import venv, ensurepip' 2>/dev/null; then
                printf '%s\n' "$found"
                return
            fi
            ensurepip_missing=$found
        done
    done
    if [ -n "$ensurepip_missing" ]; then
        say "$ensurepip_missing has no venv module: install it (Debian and Ubuntu call it python3-venv) and try again"
    elif found=$(command -v python3 2>/dev/null); then
        say "Python 3.11 or newer is needed, and $found is $("$found" -V 2>&1)"
    else
        say "Python 3.11 or newer is needed, and there is no python3 on the PATH"
    fi
    return 2
}

# ensure_venv LEVEL: LEVEL is `data` (to run) or `dev` (to run and test).
ensure_venv() {
    made_from=$(cksum "$root/pyproject.toml" "$scripts/constraints.txt" "$scripts/make_venv.py")
    interpreter=$(readlink -f "$venv/bin/python" 2>/dev/null) || interpreter=
    if [ "$(cat "$venv/made-$1" 2>/dev/null)" != "$made_from
$interpreter" ]; then
        python=$(find_python) || exit
        "$python" -I "$scripts/make_venv.py" "${0##*/}" "$1" "$made_from" || exit
    fi
}
