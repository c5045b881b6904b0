"""Makes a video with the OpenAI SDK, waits for it, and saves it."""

import os
import time
import uuid

from openai import OpenAI

# Each call is bounded, and repeated after faults that pass.
client = OpenAI(
    api_key=os.environ["REELGATE_API_KEY"],
    base_url=os.environ.get("REELGATE_URL", "http://127.0.0.1:8080") + "/v1",
    timeout=60,
    max_retries=20,
)

video = client.videos.create(
    model="Alpha-H3",
    prompt="a red boat at dawn",
    seconds="4",
    size="1280x720",
    # With a key, a create whose answer was lost is sent again and makes no second video.
    extra_headers={"Idempotency-Key": f"boat-{uuid.uuid4()}"},
)
# The loop has no limit of its own: the gateway ends each task, at the latest when its operator decides.
while video.status in ("queued", "in_progress"):
    answer = client.videos.with_raw_response.retrieve(video.id)
    video = answer.parse()
    if video.status in ("queued", "in_progress"):
        # The gateway says when the next read can show something new.
        time.sleep(int(answer.headers.get("openai-poll-after-ms", "2000")) / 1000)
if video.status != "completed":
    raise SystemExit(f"{video.id} is {video.status}: {video.error}")
client.videos.download_content(video.id).write_to_file("boat.mp4")
print(f"{video.id} is completed, saved boat.mp4")
