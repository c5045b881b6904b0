import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

/** An upstream whose answers go on when the test says so. */
export interface GatedUpstream {
  /** `host:port`. */
  readonly host: string;
  /** Lets the answers that wait go on; if none waits, the next one. */
  open(): void;
  /** Resolves when a client has left an answer before its end, since the last call. */
  left(): Promise<void>;
  stop(): Promise<void>;
}

/** What a stream begins and ends with, by the last word of its path: events, or a list whose type names no stream. */
const STREAMS: Readonly<Record<string, { readonly type: string; readonly first: string; readonly last: string }>> = {
  completions: {
    type: 'text/event-stream',
    first: 'data: {"choices":[{"index":0,"delta":{"content":"first"}}]}\n\n',
    last: 'data: {"choices":[{"index":0,"delta":{"content":"last"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  },
  streamGenerateContent: {
    type: 'application/json',
    first: '[{"candidates":[{"content":{"parts":[{"text":"first"}]}}]}',
    last: ',{"candidates":[{"content":{"parts":[{"text":"last"}]},"finishReason":"STOP"}]}]',
  },
};
const WHOLE = { choices: [{ index: 0, message: { role: 'assistant', content: 'last' }, finish_reason: 'stop' }] };

export async function startGatedUpstream(): Promise<GatedUpstream> {
  const waiting = new Set<() => void>();
  let isOpen = false;
  const opened = async (response: ServerResponse): Promise<void> => {
    if (isOpen) {
      isOpen = false;
      return;
    }
    await new Promise<void>((resolve) => {
      waiting.add(resolve);
      response.once('close', () => waiting.delete(resolve));
    });
  };
  let leaving = newSignal();
  const server = createServer((request, response) => {
    response.once('close', () => {
      if (!response.writableFinished) leaving.resolve(undefined);
    });
    // the gateway looks whether a channel works
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}');
      return;
    }
    void readBody(request).then((body) => answer(request.url ?? '', body, response, () => opened(response)));
  });
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on('connection', (socket) => {
    socket.send('{"type":"session.created","session":{}}');
    socket.on('message', (message, isBinary) => {
      socket.send(message, { binary: isBinary });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => {
      isOpen = waiting.size === 0;
      for (const resolve of waiting) resolve();
      waiting.clear();
    },
    left: async () => {
      await leaving.promise;
      leaving = newSignal();
    },
    stop: async () => {
      for (const socket of sockets.clients) socket.terminate();
      await new Promise((resolve) => server.close(resolve).closeAllConnections());
    },
  };
}

const newSignal = () => Promise.withResolvers<unknown>();

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A form is answered at once with its length; everything else waits for the gate. */
async function answer(url: string, body: Buffer, response: ServerResponse, opened: () => Promise<void>): Promise<void> {
  const stream = STREAMS[/\w+$/.exec(url)?.[0] ?? ''];
  if (url.endsWith('/transcriptions')) {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ text: String(body.length), usage: { type: 'duration', seconds: 1 } }));
  } else if (stream === undefined || body.includes('"stream":false')) {
    await opened();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(WHOLE));
  } else {
    response.writeHead(200, { 'content-type': stream.type }).write(stream.first);
    await opened();
    response.end(stream.last);
  }
}
