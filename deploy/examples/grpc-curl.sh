#!/usr/bin/env bash
# Makes a video with plain curl over the JSON port, polls it to its end, and saves it as boat.mp4.
set -euo pipefail
account=${REELGATE_ACCOUNT:-demo}

# call ADDRESS METHOD MESSAGE: curl repeats statuses that pass. A connection that is refused (7), cut (18, 52, 55, 56) or
# silent (28) is tried again here.
call() {
  local answer code try
  for try in {1..20}; do
    code=0
    answer=$(curl --max-time 20 --retry 5 --fail-with-body --silent --show-error \
      -H "authorization: Bearer $REELGATE_CALLER_KEY" \
      -H 'content-type: application/json' -d "$3" "http://$1/$2") || code=$?
    # After a lost answer, a key is refused while its first create still runs.
    [[ $code =~ ^(7|18|28|52|55|56)$ || ($try -gt 1 && $answer == *failed_precondition*) ]] || break
    sleep $((try < 5 ? try : 5))
  done
  printf '%s\n' "$answer"
  return "$code"
}
# text NAME: the first string of this name in the JSON that is read
text() {
  grep -o "\"$1\": *\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4
}

tasks=${REELGATE_TASKS_HTTP:-127.0.0.1:9111}
billing=${REELGATE_BILLING_HTTP:-127.0.0.1:9112}
token=$(call "$billing" reelgate.billing.v1.AccountService/ListTokens "{\"accountId\": \"$account\"}" | text id)
# With a key, a create whose answer was lost is sent again and makes no second video.
task=$(call "$tasks" reelgate.tasks.v1.TaskService/CreateTask "{
  \"accountId\": \"$account\", \"tokenId\": \"$token\", \"idempotencyKey\": \"boat-$$-$RANDOM$RANDOM\",
  \"order\": {
    \"kind\": \"TASK_KIND_GENERATION\", \"model\": \"Alpha-H3\", \"content\": [{\"text\": \"a red boat at dawn\"}],
    \"duration\": 4, \"resolution\": \"768P\", \"ratio\": \"16:9\"
  }
}" | text id)
# The loop has no limit of its own: the service ends each task, at the latest when its operator decides.
state=TASK_STATE_QUEUED
while [[ $state != TASK_STATE_COMPLETED && $state != TASK_STATE_FAILED ]]; do
  state=$(call "$tasks" reelgate.tasks.v1.TaskService/GetTask "{\"accountId\": \"$account\", \"taskId\": \"$task\"}" |
    text state)
  sleep 1
done
echo "$state"
link=$(call "$tasks" reelgate.tasks.v1.TaskService/CreateContentLink \
  "{\"accountId\": \"$account\", \"taskId\": \"$task\"}" | text url)
curl --fail --silent --show-error --location --retry 5 --retry-all-errors --max-time 300 --output boat.mp4 "$link"
echo "$task is saved in boat.mp4"
