#!/usr/bin/env bash
# Makes a video with curl, waits for it, and saves it.
set -euo pipefail

URL="${REELGATE_URL:-http://127.0.0.1:8080}"
readonly URL

# call PATH [ARGUMENTS]: curl with the token, failing on a refusal and showing it. curl repeats statuses that pass. A
# connection that is refused (7), cut (18, 52, 55, 56) or silent (28) is tried again here.
call() {
  local path=$1 answer code try
  shift
  for try in {1..20}; do
    code=0
    answer="$(curl -sS --fail-with-body --retry 5 --max-time 90 -H "Authorization: Bearer $REELGATE_API_KEY" \
      "$URL$path" "$@")" || code=$?
    # A key is refused while its first create still runs.
    [[ $code =~ ^(7|18|28|52|55|56)$ || $answer == *idempotency_key_in_use* ]] || break
    sleep $((try < 5 ? try : 5))
  done
  [[ -z $answer ]] || printf '%s\n' "$answer"
  return "$code"
}
# field NAME: the text of a field of the JSON on standard input
field() { sed -nE "s/.*\"$1\":\"([^\"]*)\".*/\1/p"; }

# With a key, a create whose answer was lost is sent again and makes no second video.
id="$(call /v1/videos -H 'Content-Type: application/json' -H "Idempotency-Key: boat-$$-$RANDOM$RANDOM" \
  -d '{"model": "Alpha-H3", "prompt": "a red boat at dawn", "seconds": "4", "size": "1280x720"}' | field id)"

# The loop has no limit of its own: the gateway ends each task, at the latest when its operator decides.
status=queued
while [[ $status != completed && $status != failed ]]; do
  # The gateway holds the answer until the state changes, at most 30 seconds.
  status="$(call "/v1/videos/$id" -H 'Prefer: wait=30' | field status)"
  echo "$id is $status"
done
[[ $status == completed ]]
call "/v1/videos/$id/content" -o boat.mp4
echo 'saved boat.mp4'
