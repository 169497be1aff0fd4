#!/bin/sh
# Finds a Python for LTM and runs it: `run.sh` or `run.sh hook` for an event, told on stdin, anything
# else is for `ltm`, whose name may come first. A hook succeeds whatever is missing on this machine,
# and so does `run.sh shown COMMAND`, for what a slash command shows: why it failed is shown then.
case $0 in */*) root=${0%/*} ;; *) root=. ;; esac

if [ $# = 0 ]; then
  if [ -t 0 ]; then
    echo "usage: run.sh COMMAND [ARGUMENT]...    a command of ltm, such as: run.sh recall WORDS" >&2
    echo "       run.sh < EVENT                  an event of a client, as JSON" >&2
    exit 0 # never an error: where a client gives its hooks a terminal, one may stop its agent
  fi
  set -- hook
fi

if [ "$1" = shown ]; then
  shift
  sh "$0" "$@" 2>&1
  exit 0
fi

# shellcheck source=/dev/null
. "$root/ltm/hook/pythons.sh"

if [ "$1" = hook ]; then
  shift
  begin_hook
  each_python run_hook "$root/ltm/hook/main.py" "$@" || tell_no_python
  exit 0
fi

[ "$1" != ltm ] || shift
launch=$root/ltm/cli/launch.py
each_python start_python "$launch" "$@"
command -v uv >/dev/null && exec uv run --quiet --no-project --python '>=3.11' python -I -S "$launch" "$@"
no_python >&2
exit 1
