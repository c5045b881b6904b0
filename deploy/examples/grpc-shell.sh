#!/usr/bin/env bash
# Makes a video with `buf curl` or `grpcurl` over gRPC, watches it to its end, and saves it as boat.mp4.
set -euo pipefail
account=${REELGATE_ACCOUNT:-demo}

# call ADDRESS METHOD MESSAGE: both programs learn the contracts from the server, by reflection
call() {
  local key="authorization: Bearer $REELGATE_CALLER_KEY"
  if [[ ${REELGATE_CLIENT:-buf} == grpcurl ]]; then
    grpcurl -plaintext -H "$key" -d "$3" "$1" "$2"
  else
    buf curl --protocol grpc --http2-prior-knowledge -H "$key" -d "$3" "http://$1/$2"
  fi
}
# text NAME: the first string of this name in the JSON that is read; grpcurl writes & as \u0026
text() {
  grep -o "\"$1\": *\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4 | sed 's/\\u0026/\&/g'
}

tasks=${REELGATE_TASKS:-127.0.0.1:9101}
billing=${REELGATE_BILLING:-127.0.0.1:9102}
token=$(call "$billing" reelgate.billing.v1.AccountService/ListTokens "{\"accountId\": \"$account\"}" | text id)
task=$(call "$tasks" reelgate.tasks.v1.TaskService/CreateTask "{
  \"accountId\": \"$account\", \"tokenId\": \"$token\", \"idempotencyKey\": \"boat-$$-$RANDOM\",
  \"order\": {
    \"kind\": \"TASK_KIND_GENERATION\", \"model\": \"Alpha-H3\", \"content\": [{\"text\": \"a red boat at dawn\"}],
    \"duration\": 4, \"resolution\": \"768P\", \"ratio\": \"16:9\"
  }
}" | text id)
# A stream ends with the task, after nine minutes, or with a fault that passes: UNAVAILABLE or DEADLINE_EXCEEDED, which
# are 112 and 32 of buf, 78 and 68 of grpcurl. Then it is opened again. The loop has no limit of its own: the service
# ends each task, at the latest when its operator decides.
watch() {
  call "$tasks" reelgate.tasks.v1.TaskService/WatchTask "{\"accountId\": \"$account\", \"taskId\": \"$task\"}" |
    { grep -o '"state": *"[^"]*"' || true; }
}
for ((wait = 1; ; wait = wait < 16 ? 2 * wait : 30)); do
  code=0
  watch || code=$?
  case $code in
    0) break ;;
    112 | 32 | 78 | 68) sleep "$wait" ;;
    *) exit "$code" ;;
  esac
done
link=$(call "$tasks" reelgate.tasks.v1.TaskService/CreateContentLink \
  "{\"accountId\": \"$account\", \"taskId\": \"$task\"}" | text url)
curl --fail --silent --show-error --location --output boat.mp4 "$link"
echo "$task is saved in boat.mp4"
