#!/bin/sh
# Where launchers of version 0.1 find this file; $hook is the program they run.
# shellcheck source=/dev/null disable=SC2154
. "${hook%/*}/../hook/pythons.sh"
