"""Makes a video over gRPC, watches it to its end, and saves it as boat.mp4."""

import os
import time
import uuid

import grpc

from reelgate.billing.v1 import account_service_pb2 as accounts
from reelgate.billing.v1 import account_service_pb2_grpc as accounts_rpc
from reelgate.tasks.v1 import order_pb2 as orders
from reelgate.tasks.v1 import task_pb2
from reelgate.tasks.v1 import task_service_pb2 as tasks
from reelgate.tasks.v1 import task_service_pb2_grpc as tasks_rpc

CALL_S = 20
STREAM_S = 300
RETRY_S, RETRY_S_MAX = 1, 30
TRIES_MAX = 20
PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)

account = os.environ.get("REELGATE_ACCOUNT", "demo")
caller = [("authorization", "Bearer " + os.environ["REELGATE_CALLER_KEY"])]
billing = accounts_rpc.AccountServiceStub(grpc.insecure_channel(os.environ.get("REELGATE_BILLING", "127.0.0.1:9102")))
service = tasks_rpc.TaskServiceStub(grpc.insecure_channel(os.environ.get("REELGATE_TASKS", "127.0.0.1:9101")))


def call(method, request):
    """Returns the answer. A call that fails with a fault that passes is tried again."""
    for attempt in range(1, TRIES_MAX + 1):
        try:
            return method(request, metadata=caller, timeout=CALL_S)
        except grpc.RpcError as error:
            # After a lost answer, a key is refused while its first create still runs.
            is_running = attempt > 1 and error.code() == grpc.StatusCode.FAILED_PRECONDITION
            if not (is_running or error.code() in PASSING) or attempt == TRIES_MAX:
                raise
            time.sleep(min(attempt, 5))


def watch(task):
    """Returns the task when it has ended. A stream that breaks or reaches its deadline is resumed where it was.

    The loop has no limit of its own: the service ends each task, at the latest when its operator decides.
    """
    cursor, wait_s = "", RETRY_S
    while True:
        request = tasks.WatchTaskRequest(account_id=account, task_id=task.id, cursor=cursor)
        try:
            for change in service.WatchTask(request, metadata=caller, timeout=STREAM_S):
                cursor, wait_s = change.cursor, RETRY_S
                if change.HasField("task"):  # A message without a task is a heartbeat.
                    task = change.task
                    print(f"{task_pb2.TaskState.Name(task.state)} {task.progress} %")
            return task
        except grpc.RpcError as error:
            if error.code() not in PASSING:
                raise
            time.sleep(wait_s)
            wait_s = min(2 * wait_s, RETRY_S_MAX)


# A task belongs to a token of the account, whose models and limits it has.
tokens = call(billing.ListTokens, accounts.ListTokensRequest(account_id=account)).tokens
if not tokens:
    raise SystemExit(f"the account {account} has no token")
order = orders.Order(
    kind=orders.TASK_KIND_GENERATION,
    model="Alpha-H3",
    content=[orders.ContentItem(text="a red boat at dawn")],
    duration=4,
    resolution="768P",
    ratio="16:9",
)
# With a key, a create whose answer was lost is sent again and makes no second video.
key = f"boat-{uuid.uuid4()}"
create = tasks.CreateTaskRequest(account_id=account, token_id=tokens[0].id, order=order, idempotency_key=key)

task = watch(call(service.CreateTask, create).task)
if task.state == task_pb2.TASK_STATE_FAILED:
    raise SystemExit(f"{task.id} failed: {task.failure.message}")

content = tasks.GetTaskContentRequest(account_id=account, task_id=task.id)
with open("boat.mp4", "wb") as file:
    for piece in service.GetTaskContent(content, metadata=caller, timeout=STREAM_S):
        file.write(piece.data)
print(f"{task.id} is completed: {task.result.width} x {task.result.height}, {task.result.bytes} bytes in boat.mp4")
