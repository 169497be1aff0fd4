#!/bin/sh
# Read by what clients run (`src/run.sh`, the launcher of `ltm setup`): which Pythons there are,
# and how a hook is run on one that may be broken. Only the shell's own commands are used to look
# around, because every event waits for this.

# Calls a command for each Python, named in $python, until it succeeds. A name with its version is
# new enough; a shim of a version manager may be none, and is slow.
each_python() {
  old='' able=''
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
  for name in python3 python py; do
    python=$(command -v "$name") || continue
    # Without Apple's tools this one only asks to install them.
    if [ "$python" = /usr/bin/python3 ] && [ -x /usr/bin/xcode-select ]; then
      /usr/bin/xcode-select -p >/dev/null 2>&1 || continue
    fi
    "$@" && return
  done
  return 1
}

# Becomes $python with these words, unless that cannot start or is too old. The system's own, under a
# name with its version, is neither, and a client waits.
start_python() {
  case $python in /usr/bin/python3.1?) exec "$python" -I -S "$@" ;; esac
  "$python" -I -S -c 'import sys; sys.exit(3 * (sys.version_info < (3, 11)))' </dev/null >/dev/null 2>&1
  case $? in
  0) exec "$python" -I -S "$@" ;;
  3) old=$python ;;
  esac
  return 1
}

# Says which Python is missing, in one line.
no_python() {
  found=none
  [ -z "$old" ] || found=$("$old" -V 2>&1)
  case $found in *[!A-Za-z0-9.+\ ]*) found='an older one' ;; esac
  install='install it from python.org or with your package manager'
  ! command -v uv >/dev/null || install='run: uv python install 3.13'
  echo "LTM needs Python 3.11 or newer and found $found: $install, then start a new session"
}

# Says so to a person whose session starts, if no Python could run the hook.
tell_no_python() {
  [ -z "$able" ] && [ -z "${LTM_INSIDE:-}" ] || return 0
  read -r event <&3
  case $event in *'"SessionStart"'*) ;; *) return 0 ;; esac
  case $event in *'"source":"startup"'*) ;; *) return 0 ;; esac
  told=$(no_python)
  printf '{"systemMessage":"%s","hookSpecificOutput":{"hookEventName":"SessionStart",' "$told"
  printf '"additionalContext":"Long-term memory is off in this session. %s."}}\n' "$told"
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
  # 3 is too old; other than that, one that ran was able to, even if it crashed.
  case $status in 3) old=$python ;; 0 | 1 | 12[89] | 1[3-9]? | 2??) able=1 ;; esac
  return "$status"
}
