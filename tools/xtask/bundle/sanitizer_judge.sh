#!/bin/sh
# Says what compute-sanitizer found in some runs: a line for each, then every finding that is not expected, once, with its count.
#
#   sanitizer_judge.sh FOLDER       NAME.log is what was said in a run, NAME.log.ended how it ended
#   sanitizer_judge.sh FILE.gz      the same of a file that sanitizer.sh has kept
#
# NAME is TOOL.LISTS.BINARY.MODULE. Findings that are expected stand in sanitizer-expected.txt (SANITIZER_EXPECTED names another) with their
# reasons. What the tool prints and what it counts ("ERROR SUMMARY") are compared. More counted than printed is a finding. "Error in printing
# record" is one, too, unless everything that it counted was printed; then the line of the run has it apart (docs/decisions.md).
# Ends with 1 if anything unexpected was found, or a run did not end well, or was left out; with 2 if there is nothing to judge, or no list.
set -u
here=$(cd "$(dirname "$0")" && pwd)
expected=${SANITIZER_EXPECTED:-$here/sanitizer-expected.txt}
[ -r "$expected" ] || { echo "no list of what is expected: $expected; SANITIZER_EXPECTED names it" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
logs=$1
if [ ! -d "$logs" ]; then
    logs=$work
    gzip -dc "$1" | awk -v to="$work" '/^##### / { file = to "/" $2 ".log"; next } { print >file }'
    for log in "$work"/*.log; do
        [ -e "$log" ] || break
        # A run that needs no device ends with the tool's own complaint; that it did end is all that is known here.
        grep -q '^test result: ok' "$log" && echo "ok" >"$log.ended" || echo "FAILED" >"$log.ended"
    done
fi

# A finding is the tool's heading with its kernel and what it says of the address, numbers left out.
findings_of() {
    # A test's name is printed without an end of line before it runs, so a finding's heading may stand behind it.
    sed 's/^.*\(=========\)/\1/' "$1" | awk '
        function flush() { if (text != "") print text; text = "" }
        /^=========( |$)/ {
            line = substr($0, 11)
            if (line ~ /^[^ ]/) {
                flush()
                if (line !~ /^(COMPUTE-SANITIZER|ERROR SUMMARY|LEAK SUMMARY|RACECHECK SUMMARY|Target application returned|Error: process did|Warning:)/)
                    text = line
            } else if (text != "" && line ~ /^ +at /) {
                sub(/^ +/, "", line); sub(/ in .*/, "", line); sub(/\+0x[0-9a-f]+.*/, "", line); sub(/\(.*/, "", line)
                if (!(text ~ / at /)) text = text " " line
            } else if (text != "" && line ~ /^ +(Address|Device|Access)/) {
                sub(/^ +/, "", line)
                text = text "; " line
            }
        }
        END { flush() }
    ' | sed -e 's/0x[0-9a-f]\{1,\}/ADDRESS/g' -e 's/\b[0-9]\{1,\} bytes/N bytes/g' \
        -e 's/nearest allocation.*//' -e 's/stream [0-9]\{1,\}/stream N/g' -e 's/[0-9,]\{1,\} bytes/N bytes/g'
}

# What the tool counted in all processes of a run.
counted_of() { sed -n 's/^.*========= ERROR SUMMARY: \([0-9]*\) error.*/\1/p' "$1" | awk '{ sum += $1 } END { print sum + 0 }'; }

# Splits findings into expected and others by the list: MODULE | PATTERN | REASON, patterns as grep -E has them.
unexpected_of() {
    awk -F ' *[|] *' -v name="$1" '
        NR == FNR { if ($0 !~ /^#/ && NF >= 3 && ($1 == "*" || $1 == name)) pattern[++count] = $2; next }
        { for (i = 1; i <= count; i++) if ($0 ~ pattern[i]) next; print }
    ' "$expected" "$2"
}

bad=0
: >"$work/all"
for ended in "$logs"/*.log.ended; do
    [ -e "$ended" ] || { echo "no run in $1" >&2; exit 2; }
    log=${ended%.ended}
    run=$(basename "$log" .log)
    name=${run#*.*.}
    how=$(cat "$ended")
    if [ ! -e "$log" ]; then
        echo "$run: $how"
        bad=1
        continue
    fi
    findings_of "$log" >"$work/found"
    counted=$(counted_of "$log")
    unprinted=$(grep -c '^Error in printing record' "$work/found")
    printed=$(($(wc -l <"$work/found") - unprinted))
    uncounted=
    if [ "$unprinted" -gt 0 ] && [ "$counted" -eq "$printed" ]; then
        sed -i '/^Error in printing record/d' "$work/found"
        uncounted="; $unprinted records neither counted nor printed"
    fi
    [ "$counted" -le "$printed" ] || echo "the tool counted $counted and printed $printed" >>"$work/found"
    binary=${name%-[0-9]*}
    unexpected_of "$binary" "$work/found" >"$work/others"
    found=$(wc -l <"$work/found")
    others=$(wc -l <"$work/others")
    failed=$(sed -n 's/^test \(.*\) \.\.\. FAILED.*/\1/p' "$log" | tr '\n' ' ')
    echo "$run: $others errors, $((found - others)) expected; tests: $how$uncounted${failed:+; failed: $failed}"
    sed "s/^/$binary: /" "$work/others" >>"$work/all"
    case "$others $how" in "0 ok"*) ;; *) bad=1 ;; esac
done
echo "== findings that are not expected =="
sort "$work/all" | uniq -c | sort -rn | cut -c1-300 | head -50
lines=$(sort -u "$work/all" | wc -l)
[ "$lines" -le 50 ] || echo "... and $((lines - 50)) more"
exit $bad
