import type { Foundation } from '@reelgate/platform/foundation';
import type { GrpcConnection } from '@reelgate/platform/rpc/grpc/client';
import { peerChecks } from './diagnosis/process-checks.ts';

/** A connected peer answers immediately. */
const PEER_MS_MAX = 500;

/** A start waits this long for its first connections, so that its first calls find them. */
const CONNECT_MS_MAX = 2000;

/** Connects to the peers that are running. */
export async function connectPeers(connections: readonly GrpcConnection[]): Promise<void> {
  await Promise.allSettled(connections.map((connection) => connection.ready(CONNECT_MS_MAX)));
}

/** Shows the peers that this process reaches. They do not affect its readiness. */
export function watchPeers(
  { metrics, bus, checks }: Foundation,
  connections: Readonly<Record<string, GrpcConnection>>,
): void {
  checks?.add(...peerChecks(connections));
  metrics.gauge('reelgate_peer_up', 'Whether this process reaches a service or the bus', ['peer'], async (gauge) => {
    gauge.labels('bus').set(Number(bus.ready()));
    for (const { name, isReachable } of await reachPeers(connections)) gauge.labels(name).set(Number(isReachable));
  });
}

/** Finds out which of the peers answer now. */
export function reachPeers(
  connections: Readonly<Record<string, GrpcConnection>>,
): Promise<readonly { readonly name: string; readonly isReachable: boolean }[]> {
  return Promise.all(
    Object.entries(connections).map(async ([name, connection]) => ({
      name,
      isReachable: await connection.ready(PEER_MS_MAX).then(
        () => true,
        () => false,
      ),
    })),
  );
}
