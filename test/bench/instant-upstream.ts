import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The vendor's V2 API, answering at once: everything runs until it is told to fail. */
export interface InstantUpstream {
  readonly host: string;
  /** The upstream's ids in the order in which the creates came. */
  readonly ids: readonly string[];
  /** Ends this work; the next look shows it. */
  fail(id: string): void;
  /** How many looks there were. */
  looks(): number;
  stop(): Promise<void>;
}

const QUERY = '/v2/query/video_generation/';

export async function startInstantUpstream(): Promise<InstantUpstream> {
  const ids: string[] = [];
  const failed = new Set<string>();
  let looked = 0;
  const server = createServer((request, response) => {
    const reply = (body: object): void => {
      const text = JSON.stringify(body);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
    };
    if (request.method === 'POST') {
      request.resume().on('end', () => {
        const id = `91${String(ids.length).padStart(13, '0')}`;
        ids.push(id);
        reply({ task_id: id });
      });
      return;
    }
    const id = request.url?.slice(QUERY.length) ?? '';
    looked += 1;
    reply({ task: { id, status: failed.has(id) ? 'failed' : 'running', ...(failed.has(id) ? { error: { code: '1027', message: 'no' } } : {}), usage: {} } });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    ids,
    fail: (id) => failed.add(id),
    looks: () => looked,
    stop: () => new Promise((resolve) => {
      server.close(() => { resolve(); });
      server.closeAllConnections();
    }),
  };
}
