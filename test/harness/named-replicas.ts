import { once } from 'node:events';
import { createServer } from 'node:net';
import { MediaService as MediaContract } from '@reelgate/proto/media/v1/media_service';
import { silentLog } from '../../services/platform/src/log.ts';
import { identifyAmong } from '../../services/platform/src/rpc/callers.ts';
import { connectGrpc } from '../../services/platform/src/rpc/grpc/client.ts';
import type { GrpcConnection } from '../../services/platform/src/rpc/grpc/client.ts';
import { startGrpcServer } from '../../services/platform/src/rpc/grpc/server.ts';
import type { RpcServer } from '../../services/platform/src/rpc/grpc/server.ts';
import { Secret } from '../../services/platform/src/secret.ts';
import { partialService } from '../../services/platform/testing/partial-service.ts';
import { CALLERS } from '../../services/platform/testing/rpc-transports.ts';
import { until } from '../../services/platform/testing/until.ts';
import { unruled } from '../../services/platform/testing/unruled.ts';

const CALLERS_AT_A_TIME = 16;
const AGE_MS = 60_000;
const MediaService = unruled(MediaContract);

/** Callers that call one after the other until the load is stopped. Each call has an id of its own. */
export interface Load {
  /** The messages of refused calls, and how often each came. */
  readonly failed: Readonly<Record<string, number>>;
  calls(): number;
  stop(): Promise<void>;
}

/** Replicas of one service on one port of several addresses, and what they have seen of the calls. */
export interface NamedReplicas {
  /** Starts a replica that is stopped at the end. */
  start(host: string, options?: { readonly connectionAgeMs?: number; readonly port?: number }): Promise<RpcServer>;
  connect(address: string): GrpcConnection;
  load(grpc: GrpcConnection): Load;
  /** Resolves once the replica answers another call. Gives the time that it took. */
  untilCalled(host: string): Promise<number>;
  /** The calls that a handler has seen. */
  seen(): number;
  /** The ids of the calls that handlers have seen more than once. */
  seenTwice(): readonly string[];
  /** Counts the connections to an address that has no replica any more. */
  watchAddress(host: string): Promise<() => number>;
  stop(): Promise<void>;
}

export function namedReplicas(port: number): NamedReplicas {
  const times = new Map<string, number>();
  const answers = new Map<string, number>();
  const ends: (() => Promise<void>)[] = [];
  const add = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
  return {
    start: async (host, { connectionAgeMs = AGE_MS, port: own = port } = {}) => {
      const binding = partialService(MediaService, {
        sendWebhook: async (_request, { requestId }) => {
          add(times, requestId);
          add(answers, host);
          return {};
        },
      });
      const server = await startGrpcServer({
        listen: { host, port: own },
        bindings: [binding],
        identify: identifyAmong(CALLERS),
        log: silentLog,
        connectionAgeMs,
      });
      ends.push(() => server.stop());
      return server;
    },
    connect: (address) => {
      const opened = connectGrpc(address, new Secret('key-of-the-program'));
      ends.push(async () => {
        opened.close();
      });
      return opened;
    },
    load: (grpc) => {
      const load = startLoad(grpc);
      ends.push(() => load.stop());
      return load;
    },
    untilCalled: async (host) => {
      const before = answers.get(host) ?? 0;
      const began = performance.now();
      await until(() => (answers.get(host) ?? 0) > before);
      return performance.now() - began;
    },
    seen: () => times.size,
    seenTwice: () => [...times].flatMap(([id, count]) => (count > 1 ? [id] : [])),
    watchAddress: async (host) => {
      let tried = 0;
      const server = createServer((socket) => {
        tried += 1;
        socket.destroy();
      }).listen(port, host);
      await once(server, 'listening');
      ends.push(async () => {
        server.close();
        await once(server, 'close');
      });
      return () => tried;
    },
    stop: async () => {
      for (const end of ends.splice(0).reverse()) await end();
    },
  };
}

function startLoad(grpc: GrpcConnection): Load {
  const media = grpc.client(MediaService);
  const failed: Record<string, number> = {};
  let calls = 0;
  let isOver = false;
  const callOn = async (): Promise<void> => {
    while (!isOver) {
      calls += 1;
      await media.sendWebhook({ accountId: 'demo' }, { requestId: `call_${calls}` }).catch((error: unknown) => {
        const message = String((error as Error).cause ?? error);
        failed[message] = (failed[message] ?? 0) + 1;
      });
    }
  };
  const callers = Array.from({ length: CALLERS_AT_A_TIME }, callOn);
  return {
    failed,
    calls: () => calls,
    stop: async () => {
      isOver = true;
      await Promise.all(callers);
    },
  };
}
