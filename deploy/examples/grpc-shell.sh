#!/usr/bin/env bash
# Makes a video with `buf curl` or `grpcurl` over gRPC, watches it to its end, and saves it as boat.mp4.
set -euo pipefail
account=${REELGATE_ACCOUNT:-demo}

call_s=20
stream_s=300

# attempt SECONDS ADDRESS METHOD MESSAGE: both programs learn the contracts from the server, by reflection
attempt() {
  local key="authorization: Bearer $REELGATE_CALLER_KEY"
  if [[ ${REELGATE_CLIENT:-buf} == grpcurl ]]; then
    grpcurl -max-time "$1" -plaintext -H "$key" -d "$4" "$2" "$3"
  else
    buf curl --timeout "$1s" --protocol grpc --http2-prior-knowledge -H "$key" -d "$4" "http://$2/$3"
  fi
}
# passes CODE: a fault that passes. UNAVAILABLE and DEADLINE_EXCEEDED are 112 and 32 of buf, 78 and 68 of grpcurl. buf
# calls a connection that is cut CANCELLED (8) or INTERNAL (104). Both programs end with 1 when they reach no server,
# because they ask it for the contracts first.
passes() {
  [[ $1 =~ ^(1|8|32|104|112|68|78)$ ]]
}
# call ADDRESS METHOD MESSAGE: tries again after a fault that passes
call() {
  local answer code try
  for try in {1..20}; do
    code=0
    answer=$(attempt "$call_s" "$@") || code=$?
    # After a lost answer, a key is refused while its first create still runs: FAILED_PRECONDITION is 72 of buf, 73 of
    # grpcurl.
    passes "$code" || ((try > 1 && (code == 72 || code == 73))) || break
    sleep $((try < 5 ? try : 5))
  done
  printf '%s\n' "$answer"
  return "$code"
}
# text NAME: the first string of this name in the JSON that is read; grpcurl writes & as \u0026
text() {
  grep -o "\"$1\": *\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4 | sed 's/\\u0026/\&/g'
}

tasks=${REELGATE_TASKS:-127.0.0.1:9101}
billing=${REELGATE_BILLING:-127.0.0.1:9102}
token=$(call "$billing" reelgate.billing.v1.AccountService/ListTokens "{\"accountId\": \"$account\"}" | text id)
# With a key, a create whose answer was lost is sent again and makes no second video.
task=$(call "$tasks" reelgate.tasks.v1.TaskService/CreateTask "{
  \"accountId\": \"$account\", \"tokenId\": \"$token\", \"idempotencyKey\": \"boat-$$-$RANDOM$RANDOM\",
  \"order\": {
    \"kind\": \"TASK_KIND_GENERATION\", \"model\": \"Alpha-H3\", \"content\": [{\"text\": \"a red boat at dawn\"}],
    \"duration\": 4, \"resolution\": \"768P\", \"ratio\": \"16:9\"
  }
}" | text id)
# A stream ends with the task, or with a fault that passes, such as its deadline. Then it is opened again. The loop has
# no limit of its own: the service ends each task, at the latest when its operator decides.
watch() {
  attempt "$stream_s" "$tasks" reelgate.tasks.v1.TaskService/WatchTask \
    "{\"accountId\": \"$account\", \"taskId\": \"$task\"}" | { grep -o '"state": *"[^"]*"' || true; }
}
for ((wait = 1; ; wait = wait < 16 ? 2 * wait : 30)); do
  code=0
  watch || code=$?
  ((code != 0)) || break
  passes "$code" || exit "$code"
  sleep "$wait"
done
link=$(call "$tasks" reelgate.tasks.v1.TaskService/CreateContentLink \
  "{\"accountId\": \"$account\", \"taskId\": \"$task\"}" | text url)
curl --fail --silent --show-error --location --retry 5 --retry-all-errors --max-time 300 --output boat.mp4 "$link"
echo "$task is saved in boat.mp4"
