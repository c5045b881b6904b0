"""Hears the events of Reelgate, verifies them with the OpenAI SDK and drops repeats."""

import os
import sys
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from openai import OpenAI

BODY_BYTES_MAX = 1024 * 1024
SEEN_MAX = 10_000
client = OpenAI(api_key="unused", webhook_secret=os.environ["REELGATE_WEBHOOK_SECRET"])
# A receiver with several processes keeps these ids in its database instead.
seen: "OrderedDict[str, None]" = OrderedDict()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        size = int(self.headers.get("content-length", 0))
        if size > BODY_BYTES_MAX:
            self.answer(413)
            return
        # The signature covers the bytes, so the body must not be parsed and written anew before it is verified.
        body = self.rfile.read(size)
        try:
            event = client.webhooks.unwrap(body, self.headers)
        except Exception as error:
            print(f"refused: {error}", file=sys.stderr, flush=True)
            self.answer(400)
            return
        if event.id not in seen:
            seen[event.id] = None
            if len(seen) > SEEN_MAX:
                seen.popitem(last=False)
            print(event.type, event.data.id, flush=True)
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
print(f"listening on port {server.server_port}", flush=True)
server.serve_forever()
