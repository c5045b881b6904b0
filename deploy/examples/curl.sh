#!/usr/bin/env bash
# Makes a video with curl, waits for it, and saves it.
set -euo pipefail

URL="${REELGATE_URL:-http://127.0.0.1:8080}"
readonly URL

# call PATH [ARGUMENTS]: curl with the token, failing on a refusal and showing it
call() {
  local path=$1
  shift
  curl -sS --fail-with-body --max-time 90 -H "Authorization: Bearer $REELGATE_API_KEY" "$URL$path" "$@"
}
# field NAME: the text of a field of the JSON on standard input
field() { sed -nE "s/.*\"$1\":\"([^\"]*)\".*/\1/p"; }

id="$(call /v1/videos -H 'Content-Type: application/json' \
  -d '{"model": "Alpha-H3", "prompt": "a red boat at dawn", "seconds": "4", "size": "1280x720"}' | field id)"

# The loop has no limit of its own: the gateway ends each task, at the latest when its operator decides.
status=queued
while [[ $status != completed && $status != failed ]]; do
  # The gateway holds the answer until the state changes, at most 30 seconds.
  status="$(call "/v1/videos/$id" -H 'Prefer: wait=30' --retry 10 --retry-connrefused | field status)"
  echo "$id is $status"
done
[[ $status == completed ]]
call "/v1/videos/$id/content" -o boat.mp4
echo 'saved boat.mp4'
