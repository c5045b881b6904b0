import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A delivery that a receiver answered, and when it came, in milliseconds since 1970. */
export interface Heard {
  readonly taskId: string;
  /** The end of the task by the event, in whole seconds: the lag is up to a second too long. */
  readonly endedAt: number;
  readonly at: number;
}

/** Receivers of webhooks, each on a loopback address of its own, as if each were another host. */
export interface HookReceivers {
  /** `host:port` of each. */
  readonly hosts: readonly string[];
  /** What the receivers that answer have heard: one for each event and receiver. */
  heard(): readonly Heard[];
  stop(): Promise<void>;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** The first receiver never answers, the second one answers 500. */
export async function startHookReceivers(count: number): Promise<HookReceivers> {
  const heard = new Map<string, Heard>();
  const hangs: Answer = (request) => void request.resume();
  const fails: Answer = (request, response) => {
    request.resume().on('end', () => response.writeHead(500).end());
  };
  const answers =
    (host: number): Answer =>
    (request, response) => {
      const parts: Buffer[] = [];
      request
        .on('data', (part: Buffer) => void parts.push(part))
        .on('end', () => {
          const at = Date.now();
          response.writeHead(204).end();
          const { id, created_at: seconds, data } = JSON.parse(Buffer.concat(parts).toString()) as Body;
          const key = `${host} ${id}`;
          if (!heard.has(key)) heard.set(key, { taskId: data.id, endedAt: seconds * 1000, at });
        });
    };
  const roles: readonly Answer[] = [hangs, fails];
  const servers: Server[] = [];
  let port = 0;
  for (let host = 0; host < count; host += 1) {
    const server = createServer(roles[host] ?? answers(host));
    await new Promise<void>((resolve, reject) => {
      server.on('error', reject).listen(port, addressOf(host), resolve);
    });
    ({ port } = server.address() as AddressInfo);
    servers.push(server);
  }
  return {
    hosts: servers.map((_, host) => `${addressOf(host)}:${port}`),
    heard: () => [...heard.values()],
    stop: async () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

interface Body {
  readonly id: string;
  readonly created_at: number;
  readonly data: { readonly id: string };
}

const addressOf = (host: number): string => `127.0.0.${host + 2}`;
