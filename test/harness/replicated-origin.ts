import { Resolver } from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { LookupFunction } from 'node:net';
import { rotatingLookup } from '../../services/platform/src/http/rotating-lookup.ts';
import { freePorts } from './free-ports.ts';
import { startNameServer } from './name-server.ts';

const NAME = 'origin.test';

/** HTTP servers on one port of several addresses, behind one name. */
export interface ReplicatedOrigin {
  /** Without a slash at its end. */
  readonly url: string;
  readonly lookup: LookupFunction;
  /** The requests that each address has answered, since the last call. */
  answered(): Readonly<Record<string, number>>;
  /** The addresses that the name has from now on. */
  name(...hosts: readonly string[]): void;
  start(host: string): Promise<void>;
  /** Closes its port and each of its connections. */
  stopReplica(host: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startReplicatedOrigin(listener: RequestListener): Promise<ReplicatedOrigin> {
  const names = await startNameServer();
  const [port = 0] = await freePorts(1);
  const resolver = new Resolver();
  resolver.setServers([names.address]);
  const stops = new Map<string, () => Promise<void>>();
  let answers: Record<string, number> = {};
  const stopReplica = async (host: string): Promise<void> => {
    await stops.get(host)?.();
    stops.delete(host);
  };
  return {
    url: `http://${NAME}:${port}`,
    lookup: rotatingLookup((name, _options, done) => {
      resolver.resolve4(name, (error, addresses) => {
        done(error, error === null ? addresses.map((address) => ({ address, family: 4 })) : []);
      });
    }),
    answered: () => {
      const since = answers;
      answers = {};
      return since;
    },
    name: (...hosts) => {
      names.set(NAME, hosts);
    },
    start: async (host) => {
      const server = createServer((request, response) => {
        answers[host] = (answers[host] ?? 0) + 1;
        listener(request, response);
      }).listen(port, host);
      await once(server, 'listening');
      stops.set(host, async () => {
        const closed = once(server, 'close');
        server.close();
        server.closeAllConnections();
        await closed;
      });
    },
    stopReplica,
    stop: async () => {
      for (const host of [...stops.keys()]) await stopReplica(host);
      await names.stop();
    },
  };
}
