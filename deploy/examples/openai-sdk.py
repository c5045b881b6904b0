"""Makes a video with the OpenAI SDK, waits for it, and saves it."""

import os

from openai import OpenAI

client = OpenAI(
    api_key=os.environ["REELGATE_API_KEY"],
    base_url=os.environ.get("REELGATE_URL", "http://127.0.0.1:8080") + "/v1",
)

# The SDK polls as often as the gateway asks for.
video = client.videos.create_and_poll(
    model="Alpha-H3",
    prompt="a red boat at dawn",
    seconds="4",
    size="1280x720",
)
if video.status != "completed":
    raise SystemExit(f"{video.id} is {video.status}: {video.error}")
client.videos.download_content(video.id).write_to_file("boat.mp4")
print(f"{video.id} is completed, saved boat.mp4")
