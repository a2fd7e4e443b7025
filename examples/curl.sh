#!/bin/sh
# Shows the life of a belief with curl alone: store it, find it by words, correct it, find it by structure, read the
# version that was replaced.
#
# Start a server (`npm start`). Then, in another terminal, in the same folder:
#
#   export GRANARY_URL=http://127.0.0.1:8080 GRANARY_API_KEY=$(cat data/keys/bootstrap.key)
#   sh examples/curl.sh
#
# The example makes a memory of its own and deletes it at the end.
set -eu
: "${GRANARY_URL:?set it to the server, for instance http://127.0.0.1:8080}"
: "${GRANARY_API_KEY:?set it to an API key, for instance the text in data/keys/bootstrap.key}"

MEMORY=example-curl-$$
M=/memories/$MEMORY

# call METHOD PATH [JSON]: sends a request and prints the answer. An error status ends the script.
call() {
  curl --silent --show-error --fail-with-body --request "$1" "$GRANARY_URL/api$2" \
    --header "Authorization: Bearer $GRANARY_API_KEY" ${3:+--header 'Content-Type: application/json' --data "$3"}
  echo
}

# fields: the fields of each grain in an answer, one grain a line. With jq: jq -c '.results[].fields'.
fields() {
  grep -o '"fields":{[^}]*}'
}

call POST /memories "{\"id\":\"$MEMORY\"}" > /dev/null
trap 'call DELETE "$M" > /dev/null' EXIT

echo "Store a belief:"
ADDED=$(call POST "$M/add" '{"subject":"Ada","relation":"prefers","object":"light mode","user_id":"ada"}')
echo "$ADDED"
HASH=$(echo "$ADDED" | sed 's/.*"blob_hash":"\([0-9a-f]*\)".*/\1/')

echo "Find it by words:"
call POST "$M/recall" '{"query":"which mode does Ada like?"}' | fields

echo "Correct it. A new version takes its place:"
call POST "$M/supersede" "{\"old_hash\":\"$HASH\",\"fields\":{\"object\":\"dark mode\"}}"

echo "Find it by structure. Only the new version is found:"
call POST "$M/recall" '{"subject":"Ada","relation":"prefers"}' | fields

echo "Read the old version by its hash. It is kept:"
call GET "$M/grains/$HASH" | fields
