#!/bin/sh
# Finds a Python for LTM and runs it: `run.sh` or `run.sh hook` for an event, told on stdin, anything
# else is for `ltm`. A hook is silent and succeeds whatever is missing on this machine. Only the
# shell's own commands are used to look around, because every event waits for this.
root=${0%/plugin/*}

if [ $# = 0 ]; then
  if [ -t 0 ]; then
    echo "usage: run.sh COMMAND [ARGUMENT]...    a command of ltm, such as: run.sh recall WORDS" >&2
    echo "       run.sh < EVENT                  an event of a client, as JSON" >&2
    exit 0 # never an error: where a client gives its hooks a terminal, one may stop its agent
  fi
  set -- hook
fi

# A name with its version is new enough; a shim of a version manager may be none, and is slow.
find_python() {
  noted=${LTM_HOME:-$HOME/.ltm}/runtime.json
  if [ -r "$noted" ] && read -r line <"$noted"; then
    case $line in
    *\\*) ;; # an escape in a path: look elsewhere
    *'"python":"'*)
      python=${line#*\"python\":\"}
      python=${python%%\"*}
      [ -x "$python" ] && return
      ;;
    esac
  fi
  for name in 14 13 12 11; do
    python=$(command -v "python3.$name") && case $python in */shims/*) ;; /*) return ;; esac
  done
  for python in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-9]*/bin/python3 \
    "${UV_PYTHON_INSTALL_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/uv/python}"/cpython-3.1[1-9]*/bin/python3; do
    [ -x "$python" ] && return
  done
  for name in python3 python; do
    python=$(command -v "$name") || continue
    # Without Apple's tools this one only asks to install them.
    if [ "$python" = /usr/bin/python3 ] && [ -x /usr/bin/xcode-select ]; then
      /usr/bin/xcode-select -p >/dev/null 2>&1 || continue
    fi
    return
  done
  return 1
}

find_python || python=
if [ "$1" = hook ]; then
  [ -n "$python" ] && "$python" -I -S "$root/src/ltm/surfaces/hook.py" 2>/dev/null
  exit 0
fi
launch=$root/src/ltm/surfaces/launch.py
[ -n "$python" ] && exec "$python" -I -S "$launch" "$@"
command -v uv >/dev/null && exec uv run --quiet --no-project --python '>=3.11' python -I -S "$launch" "$@"
echo "LTM needs Python 3.11 or newer, or uv: install one of them and start again" >&2
exit 1
