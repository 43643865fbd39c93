# sh scene.sh RULESET ACTIONS.csv: play a scene from a table of actions, and print its log.
# Columns: actor, action, inputs (skill=burglary vs=3), real dice (roll=++0-), decisions (price=cost). What the last two
# leave out is rolled, and decided by policies. Sheets are files here, or the ruleset's own. Fields hold no commas.
set -eu
ruleset=$1 actions=$2
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

awk -F , -v ruleset="$ruleset" -v table="$folder/scene.db" '
    function text(value) { gsub(/\\/, "\\\\\\\\", value); gsub(/"/, "\\\"", value); return "\"" value "\"" }
    function object(words,   parts, count, i, found) {
        count = split(words, parts, " ")
        for (i = 1; i <= count; i++)
            found = found (i > 1 ? ", " : "") text(substr(parts[i], 1, index(parts[i], "=") - 1)) ": " \
                text(substr(parts[i], index(parts[i], "=") + 1))
        return "{" found "}"
    }
    { sub(/\r$/, "") }
    /^#/ || !NF || !columns++ { next }
    !seen[$1]++ { sheets = sheets (sheets ? ", " : "") text($1) }
    {
        acts = acts sprintf("{\"id\": %d, \"op\": \"table.act\", \"table\": %s, \"actor\": %s, \"action\": %s, " \
            "\"with\": %s, \"given\": %s, \"choose\": %s, \"auto\": true}\n", \
            NR, text(table), text($1), text($2), object($3), object($4), object($5))
    }
    END {
        printf "{\"id\": 0, \"op\": \"table.new\", \"table\": %s, \"ruleset\": %s, \"sheets\": [%s]}\n%s",
            text(table), text(ruleset), sheets, acts
    }' "$actions" | rpgres batch > "$folder/answers"

rpgres table log --table "$folder/scene.db" || true
sed -n 's/^{"id":\([0-9]*\),"format":"rpgres.error\/1".*"message":"\(\(\\.\|[^"\\]\)*\)".*/line \1: \2/p' "$folder/answers" >&2
! grep -q '^{"id":[0-9]*,"format":"rpgres.error' "$folder/answers"
