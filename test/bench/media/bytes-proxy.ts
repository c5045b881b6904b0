import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { newBytesClient } from '../../../services/gateway/src/clients/bytes-client.ts';
import { systemClock } from '../../../services/platform/src/clock.ts';
import { writeThrough } from '../../../services/platform/src/http/write-response.ts';

/*
 * The gateway's part of a download: a process that asks the origin for bytes and writes them into its answer.
 * Usage: `node bytes-proxy.ts bytes-client|undici PORT`. It prints its own port.
 */

const TIMEOUT_MS = 30_000;
const [, , client = '', origin = ''] = process.argv;
const url = new URL(`http://127.0.0.1:${origin}/`);
const bytes = newBytesClient();
const agent = new Agent({ connections: 256, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });

interface Answer {
  readonly length: string | undefined;
  readonly pieces: AsyncIterable<Uint8Array>;
}

const CLIENTS: Readonly<Record<string, () => Promise<Answer>>> = {
  'bytes-client': async () => {
    const { head, pieces } = await bytes.request({
      url,
      method: 'GET',
      headers: {},
      headTimeoutMs: TIMEOUT_MS,
      idleTimeoutMs: TIMEOUT_MS,
    });
    return { length: head.headers['content-length'], pieces };
  },
  undici: async () => {
    const { headers, body } = await request(url, { dispatcher: agent });
    return { length: String(headers['content-length']), pieces: body };
  },
};

const server = createServer((_, response) => {
  void CLIENTS[client]!().then(async ({ length, pieces }) => {
    response.writeHead(200, { 'content-length': length });
    await writeThrough(pieces, response, { clock: systemClock });
  });
}).listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
