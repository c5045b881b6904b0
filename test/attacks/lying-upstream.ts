import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The vendor's V2 API. It ends every task at once, with the result that the test gave it. */
export interface LyingUpstream {
  /** `host:port` */
  readonly host: string;
  /** The bodies of all creates. */
  readonly orders: readonly string[];
  /** Sets the result of orders with `[lie:N]` in their text: `result(N)`. */
  lies(result: (lie: number) => string): void;
  /** The number of polls of the task with this lie. */
  polls(lie: number): number;
  stop(): Promise<void>;
}

export async function startLyingUpstream(): Promise<LyingUpstream> {
  const orders: string[] = [];
  const works: (number | undefined)[] = [];
  const polled = new Map<number, number>();
  let resultOf: (lie: number) => string = () => '';
  const send = (response: ServerResponse, body: object): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.method === 'POST') {
        const body = Buffer.concat(parts).toString();
        orders.push(body);
        const lie = /\[lie:(\d+)\]/.exec(body)?.[1];
        send(response, { task_id: String(4_240_000 + works.push(lie === undefined ? undefined : Number(lie))) });
        return;
      }
      const id = (request.url ?? '').split('/').at(-1) ?? '';
      const lie = works[Number(id) - 4_240_001];
      if (lie !== undefined) polled.set(lie, (polled.get(lie) ?? 0) + 1);
      const content = lie === undefined ? {} : { content: { url: resultOf(lie) } };
      send(response, {
        task: { id, status: lie === undefined ? 'running' : 'succeeded', task_type: 'generation', ...content },
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    orders,
    lies: (result) => {
      resultOf = result;
    },
    polls: (lie) => polled.get(lie) ?? 0,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
