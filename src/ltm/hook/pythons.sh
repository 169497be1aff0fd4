#!/bin/sh
# Read by what clients run (`plugin/run.sh`, the launcher of `ltm setup`): which Pythons there are,
# and how a hook is run on one that may be broken. Only the shell's own commands are used to look
# around, because every event waits for this.

# Calls a command for each Python, named in $python, until it succeeds. A name with its version is
# new enough; a shim of a version manager may be none, and is slow.
each_python() {
  noted=${LTM_HOME:-$HOME/.ltm}/runtime.json
  if [ -r "$noted" ] && read -r line <"$noted"; then
    case $line in
    *\\*) ;; # an escape in a path: look elsewhere
    *'"python":"'*)
      python=${line#*\"python\":\"}
      python=${python%%\"*}
      [ -x "$python" ] && "$@" && return
      ;;
    esac
  fi
  for name in 14 13 12 11; do
    python=$(command -v "python3.$name") || continue
    case $python in */shims/*) ;; /*) "$@" && return ;; esac
  done
  for python in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-9]*/bin/python3 \
    "${UV_PYTHON_INSTALL_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/uv/python}"/cpython-3.1[1-9]*/bin/python3; do
    [ -x "$python" ] && "$@" && return
  done
  for name in python3 python; do
    python=$(command -v "$name") || continue
    # Without Apple's tools this one only asks to install them.
    if [ "$python" = /usr/bin/python3 ] && [ -x /usr/bin/xcode-select ]; then
      /usr/bin/xcode-select -p >/dev/null 2>&1 || continue
    fi
    "$@" && return
  done
  return 1
}

# Becomes $python with these words, unless that cannot even start.
start_python() {
  "$python" -I -S -c '' </dev/null >/dev/null 2>&1 && exec "$python" -I -S "$@"
}

# Before the first hook: signals meant for the client's whole group must not cost us the event.
# A command in the background has no input of its own, so it is kept where it can be named.
begin_hook() {
  exec 2>/dev/null
  trap '' INT TERM HUP
  trap 'late=1' USR1
  tried='' hung='' late=''
  command exec 3<&0 || exec 3</dev/null
}

# Runs hook.py and its words on $python; fails if that crashes, hangs or cannot do it. What it has
# not read of the event is there for the next. A healthy hook ends by itself in less than a second.
run_hook() {
  [ -z "$hung" ] || return 0 # there is no time for a third
  [ "$python" != "$tried" ] || return 1
  hung=${tried:+$late} tried=$python late=''
  "$python" -I -S "$@" --or-next <&3 3<&- &
  worker=$!
  (
    exec 3<&- </dev/null >/dev/null
    nap=''
    trap 'kill -9 $nap; exit' USR1
    sleep 1.2 &
    nap=$!
    wait "$nap" || sleep 2 || exit # this `sleep` knows no fractions, or there is none
    kill -USR1 $$
  ) &
  timer=$!
  wait "$worker"
  status=$?
  kill -USR1 "$timer"
  [ -z "$late" ] || kill -9 "$worker"
  return "$status"
}
