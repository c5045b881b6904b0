"""Makes a video over gRPC and follows it until it has ended."""

import os
import time

import grpc

from reelgate.billing.v1 import account_service_pb2 as accounts
from reelgate.billing.v1 import account_service_pb2_grpc as accounts_rpc
from reelgate.tasks.v1 import order_pb2 as orders
from reelgate.tasks.v1 import task_pb2
from reelgate.tasks.v1 import task_service_pb2 as tasks
from reelgate.tasks.v1 import task_service_pb2_grpc as tasks_rpc

DEADLINE_S = 300

account = os.environ.get("REELGATE_ACCOUNT", "demo")
caller = {"metadata": [("authorization", "Bearer " + os.environ["REELGATE_CALLER_KEY"])], "timeout": 20}
billing = grpc.insecure_channel(os.environ.get("REELGATE_BILLING", "127.0.0.1:9102"))
service = tasks_rpc.TaskServiceStub(grpc.insecure_channel(os.environ.get("REELGATE_TASKS", "127.0.0.1:9101")))

# A task belongs to a token of the account, whose models and limits it has.
tokens = accounts_rpc.AccountServiceStub(billing).ListTokens(accounts.ListTokensRequest(account_id=account), **caller)
order = orders.Order(
    kind=orders.TASK_KIND_GENERATION,
    model="Alpha-H3",
    content=[orders.ContentItem(text="a red boat at dawn")],
    duration=4,
    resolution="768P",
    ratio="16:9",
)
created = tasks.CreateTaskRequest(account_id=account, token_id=tokens.tokens[0].id, order=order)
task = service.CreateTask(created, **caller).task

end = time.monotonic() + DEADLINE_S
while task.state != task_pb2.TASK_STATE_COMPLETED:
    if task.state == task_pb2.TASK_STATE_FAILED:
        raise SystemExit(f"{task.id} failed: {task.failure.message}")
    if time.monotonic() > end:
        raise SystemExit(f"{task.id} has not ended in time")
    time.sleep(max(task.poll_after_ms, 500) / 1000)
    task = service.GetTask(tasks.GetTaskRequest(account_id=account, task_id=task.id), **caller).task
print(f"{task.id} is completed: {task.result.width} x {task.result.height}, {task.result.bytes} bytes")
