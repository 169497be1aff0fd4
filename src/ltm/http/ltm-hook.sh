#!/bin/sh
# Tells one event of a client to the server of `ltm serve`, and prints what that answers:
#
#     ltm-hook.sh EVENT       EVENT as the client calls it, such as SessionStart; its message on stdin
#
# When no server answers in time, the event waits in the spool for one that does. Needs sh and awk,
# and curl for an answer. It ends with 0 whatever happens, within about a second, and it prints an
# answer or nothing. Of a message only the fields named in `record` are ever written to a disk: the
# rest may hold secrets.

exec 2>/dev/null
trap 'exit 0' EXIT
# A signal meant for the client's whole group must not cost us the event.
trap '' INT TERM HUP
[ -z "${LTM_INSIDE:-}" ] || exit 0 # this client is one that we started ourselves
umask 077
LC_ALL=C
export LC_ALL

# Seconds for the proof and for an answer: with all around them, less than one.
patience=0.3 limit=0.6
case ${1:-} in
    SessionStart | session_start) event=SessionStart route=session_start ;;
    UserPromptSubmit | user_prompt_submit) event=UserPromptSubmit route=user_prompt_submit ;;
    PreCompact | pre_compact) event=PreCompact route=pre_compact ;;
    Stop | stop) event=Stop route=stop ;;
    SubagentStart | subagent_start) event=SubagentStart route=subagent_start ;;
    SubagentStop | subagent_stop) event=SubagentStop route=subagent_stop ;;
    PostToolUse | post_tool_use) event=PostToolUse route=post_tool_use ;;
    PostToolUseFailure | post_tool_use_failure)
        event=PostToolUseFailure route=post_tool_use_failure ;;
    # Here a client gives all hooks together one second and a half.
    SessionEnd | session_end) event=SessionEnd route=session_end patience=0.1 limit=0.2 ;;
    *) exit 0 ;;
esac

nl='
'
cr=$(printf '\r')

# -- where things are: as project/home.py has it ---------------------------------------------------

home=${LTM_HOME:-}
case $home in
    '') [ -z "${HOME:-}" ] || home=${HOME%/}/.ltm ;;
    \~ | \~/*) [ -z "${HOME:-}" ] || home=$HOME${home#?} ;;
esac
while [ "${home%/}" != "$home" ]; do home=${home%/}; done
case $home in
    /*) ;;
    *) home='' ;;
esac

# -- the message: to its end, or as far as it came if the other end stays open ---------------------

exec 3<&0
payload=$(
    cat <&3 3<&- &
    reader=$!
    (
        exec >/dev/null 3<&-
        nap=''
        trap 'kill -9 $nap; exit' USR1
        sleep 0.7 &
        nap=$!
        wait "$nap" || sleep 1 # this `sleep` knows no fractions
        kill -9 "$reader"
    ) &
    timer=$!
    wait "$reader"
    status=$?
    kill -USR1 "$timer"
    exit "$status"
) || patience=0.1 limit=0.1
exec 3<&-

# The event's key: it sorts by time, and an event that is kept twice under one key is one event.
now=$(date +%s%N)
case $now in
    '' | *[!0-9]*) now=$(date +%s)000000000 ;; # this `date` knows no fractions
esac
key=$(printf '0%s-%07d-00000000' "$now" "$$")

# -- asking the server -------------------------------------------------------------------------------

# The value of one field of the line in server.json.
field() {
    value=${line#*"\"$1\":"}
    value=${value#\"}
    value=${value%%[!A-Za-z0-9.:_-]*}
}

# Secrets go through a pipe: what a command is called with, every user of a machine can see.
# `-q` and `--noproxy`: no setting of the user's may send them elsewhere.
say() {
    curl -q -s -i -g --noproxy '*' --connect-timeout 0.3 -K /dev/fd/4 "$@"
}

# A stranger at the port of a server that was killed learns the challenge, which is worth nothing
# without that server, and cannot answer it.
prove() {
    say --max-time "$patience" "http://$host:$port/proof" 4<<EOF
header = "LTM-Challenge: $challenge"
EOF
}

post() {
    printf '%s' "$payload" | say --max-time "$limit" \
        -H 'Content-Type: application/json' -H 'Expect:' -H "LTM-Event: $key" \
        --data-binary @- "http://$host:$port/hook/$route" 4<<EOF
header = "Authorization: Bearer $token"
EOF
}

# Ask by a command; the head of the answer and the rest of it, if they come from our server.
hear() {
    # The dot says that the answer is whole, and keeps the newlines before it.
    answer=$({ "$1" && printf .; } | head -c 65536)
    case $answer in *"$cr$nl$cr$nl"*.) ;; *) return 1 ;; esac
    head=${answer%%"$cr$nl$cr$nl"*}$cr$nl
    answer=${answer#*"$cr$nl$cr$nl"}
    case $head in *"${nl}ltm-proof: $proof$cr$nl"*) ;; *) return 1 ;; esac
}

ask() {
    file=${LTM_SERVER_JSON:-$home/server.json}
    [ -f "$file" ] && command -v curl >/dev/null || return 1
    IFS= read -r line <"$file" || return 1
    field host && host=$value
    field port && port=$value
    field token && token=$value
    field challenge && challenge=$value
    field proof && proof=$value
    [ -n "$host" ] && [ -n "$port" ] && [ -n "$token" ] && [ -n "$challenge" ] && [ -n "$proof" ] ||
        return 1
    case $host in *:*) host="[$host]" ;; esac
    hear prove && hear post || return 1
    case $head in
        'HTTP/1.1 204'*) ;;
        'HTTP/1.1 200'*)
            case $answer in '{'*"}$nl.") ;; *) return 1 ;; esac
            printf '%s' "${answer%.}"
            ;;
        *) return 1 ;;
    esac
}

# -- keeping the event: as spool/events.py has it ---------------------------------------------------

# The event as a record of the spool. Values are passed on as they stand in the message, escapes and
# all, and only those of the message's own fields: not of what a tool was given or gave back. They
# stand at the beginning of a message, which is all that is looked at.
record() {
    printf '%s' "$payload" | head -c 16384 | awk -v event="$event" -v home="$1" -v placed="$2" '
        { text = text $0 "\n" }
        END {
            count = split("session:session_id transcript:transcript_path cwd:cwd source:source" \
                " reason:reason trigger:trigger agent:agent_id agent_type:agent_type" \
                " agent_transcript:agent_transcript_path tool:tool_name", pairs, " ")
            for (n = 1; n <= count; n++) {
                split(pairs[n], pair, ":")
                ours[n] = pair[1]
                place["\"" pair[2] "\""] = n
            }
            while (text != "") {
                first = substr(text, 1, 1)
                size = 1
                if (first == "\"") {
                    if (!match(text, /^"([^"\\]|\\.)*"/)) break
                    size = RLENGTH
                    token = substr(text, 1, size)
                    if (depth == 1 && !is_value) name = token
                    else if (depth == 1 && name in place && size > 2 && size <= 4098 \
                        && token !~ /\\u0000/ && token !~ /[\001-\037]/ \
                        && (name != "\"reason\"" || (size <= 42 && token ~ /^"_*[a-z][a-z_]*"$/))) \
                        found[place[name]] = token
                }
                else if (first == "{" || first == "[") depth++
                else if (first == "}" || first == "]") depth--
                else if (depth == 1 && first == ":") is_value = 1
                else if (depth == 1 && first == ",") is_value = 0
                else if (match(text, /^[^]["{},:]+/)) size = RLENGTH
                text = substr(text, size + 1)
            }
            if (!(1 in found) || (event == "SubagentStop" && !(8 in found))) exit
            line = "{\"event\":\"" event "\""
            for (n = 1; n <= count; n++)
                if (n in found) line = line ",\"" ours[n] "\":" found[n]
            if (event ~ /^PostTool/)
                line = line ",\"ok\":" (event == "PostToolUse" ? "true" : "false")
            if (placed) line = line ",\"home\":\"" home "\""
            print line "}"
        }'
}

# Put a record into a folder: whole, or not at all.
put() {
    set -- "$1" "$2" "$1"/*
    [ $# -lt 5002 ] || return 1
    temporary=$1/.$key.tmp
    printf '%s\n' "$2" | dd of="$temporary" bs=65536 conv=fsync ||
        printf '%s\n' "$2" >"$temporary"
    [ "$(cat "$temporary")" = "$2" ] && mv -f "$temporary" "$1/$key.$event.json" && return
    rm -f "$temporary"
    return 1
}

# A folder in a place that all users can write to must be this user's alone.
is_ours() {
    [ -n "$(find "$1" -prune -type d -user "$2" -perm 700)" ]
}

keep() {
    if [ -n "$home" ]; then
        line=$(record '' '')
        [ -n "$line" ] || return
        mkdir -p "$home/spool" && put "$home/spool" "$line" && return
    fi
    case $home in
        *[\"\\]* | *//* | */. | */.. | */./* | */../*) home='' ;; # any home may have it
    esac
    line=$(record "$home" placed)
    [ -n "$line" ] || return
    user=$(id -u)
    for top in "${XDG_RUNTIME_DIR:-}" "${TMPDIR:-}" "${TEMP:-}" "${TMP:-}" /tmp /var/tmp; do
        case $top in /*) ;; *) continue ;; esac
        [ -w "$top" ] || continue
        folder=$top/ltm-spool-$user
        # A folder of another user in its place ends the search.
        mkdir -m 700 "$folder" || [ -e "$folder" ] || continue
        is_ours "$folder" "$user" || return
        put "$folder" "$line" && return
    done
}

ask || keep
