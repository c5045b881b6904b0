import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { readWhole, startTestServer } from '@reelgate/platform/testing/test-server';
import { startSandbox } from '../../../deploy/local/sandbox/sandbox.ts';
import { UPSTREAM_KEY } from '../../harness/test-config.ts';

/** An order that the sandbox accepted. */
export interface Arrival {
  readonly account: string;
  /** The number of the order among those of its account. */
  readonly number: number;
  /** By `performance.now()`. */
  readonly at: number;
}

/** The sandbox, and a note of each order that it accepted. It draws no videos: each has the same one. */
export interface RecordedSandbox {
  /** `host:port`. */
  readonly host: string;
  readonly arrivals: readonly Arrival[];
  stop(): Promise<void>;
}

const VIDEO = readFileSync(path.join(import.meta.dirname, '../../../services/media/testing/fixtures/768p.mp4'));
const ORDER = /order (\d+) of (\w+)/;

/** The prompt of an order, by which it is noted. It runs for `seconds`. */
export function writePrompt(account: string, number: number, seconds: number): string {
  return `order ${number} of ${account} [queue:500ms] [slow:${seconds}s]`;
}

export async function startRecordedSandbox(): Promise<RecordedSandbox> {
  const arrivals: Arrival[] = [];
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const at = performance.now();
    const body = (await readWhole(request)).toString();
    const answer = await fetch(`${sandbox.url}${request.url ?? '/'}`, {
      method: request.method ?? 'GET',
      headers: {
        authorization: String(request.headers.authorization),
        ...(body.length > 0 && { 'content-type': 'application/json' }),
      },
      ...(body.length > 0 && { body }),
    });
    const [, number, account] = ORDER.exec(body) ?? [];
    if (answer.ok && request.method === 'POST' && account !== undefined)
      arrivals.push({ account, number: Number(number), at });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  };
  const line = await startTestServer((request, response) => {
    pass(request, response).catch(() => {
      response.destroy();
    });
  });
  const sandbox = await startSandbox({
    listen: '127.0.0.1:0',
    key: UPSTREAM_KEY,
    publicHost: line.host,
    render: async () => VIDEO,
  });
  return {
    host: line.host,
    arrivals,
    stop: async () => {
      await line.stop();
      await sandbox.stop();
    },
  };
}
