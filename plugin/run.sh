#!/bin/sh
# Finds a Python for LTM and runs it: `run.sh` or `run.sh hook` for an event, told on stdin, anything
# else is for `ltm`. A hook succeeds whatever is missing on this machine.
case $0 in */*) root=${0%/*} ;; *) root=. ;; esac

if [ $# = 0 ]; then
  if [ -t 0 ]; then
    echo "usage: run.sh COMMAND [ARGUMENT]...    a command of ltm, such as: run.sh recall WORDS" >&2
    echo "       run.sh < EVENT                  an event of a client, as JSON" >&2
    exit 0 # never an error: where a client gives its hooks a terminal, one may stop its agent
  fi
  set -- hook
fi

# shellcheck source=/dev/null
. "$root/src/ltm/hook/pythons.sh"

if [ "$1" = hook ]; then
  begin_hook
  each_python run_hook "$root/src/ltm/hook/main.py" || tell_no_python
  exit 0
fi

launch=$root/src/ltm/cli/launch.py
each_python start_python "$launch" "$@"
command -v uv >/dev/null && exec uv run --quiet --no-project --python '>=3.11' python -I -S "$launch" "$@"
no_python >&2
exit 1
