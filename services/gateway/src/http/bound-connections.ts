import type { Socket } from 'node:net';
import type { TimeSource } from '@reelgate/platform/clock';
import type { WarningLog } from '@reelgate/platform/log';
import type { CounterRegistry } from '@reelgate/platform/metrics/metrics';
import { networkCheck, readPeer, sourceNetwork } from '@reelgate/platform/source-address';

/** All addresses together have one line of the log in this time. The metric counts on. */
const LINE_EVERY_MS = 60_000;

export interface ConnectionBounds {
  /** The most connections that one source address has open at once. */
  readonly perSourceMax: number;
  /** A proxy stands for many clients, so its connections are not counted. */
  readonly trustedProxies: readonly string[];
}

export interface BoundConnectionsParts {
  readonly clock: TimeSource;
  readonly log: WarningLog;
  readonly metrics: CounterRegistry;
}

/**
 * Counts the open connections of each source address, and resets a new connection beyond the limit before its first
 * byte is read, so that the system keeps no state of it. The address is the one of the socket; IPv6 counts by its /64.
 */
export function boundConnections(
  { perSourceMax, trustedProxies }: ConnectionBounds,
  { clock, log, metrics }: BoundConnectionsParts,
): (socket: Socket) => void {
  const isTrusted = networkCheck(trustedProxies);
  const refusals = metrics.counter(
    'reelgate_gateway_refused_connections_total',
    'Connections that were reset because their source address had too many open',
  );
  refusals.begin(() => [[]]);
  const open = new Map<string, number>();
  let lastLineAt = Number.NEGATIVE_INFINITY;
  let untold = 0;
  const refuse = (socket: Socket, address: string): void => {
    socket.resetAndDestroy();
    refusals.labels().inc();
    untold += 1;
    if (clock.now() - lastLineAt < LINE_EVERY_MS) return;
    log.warn({ address, refused: untold }, 'a source address has too many connections open; new ones are reset');
    lastLineAt = clock.now();
    untold = 0;
  };
  const leave = (source: string): void => {
    const left = (open.get(source) ?? 0) - 1;
    if (left > 0) open.set(source, left);
    else open.delete(source);
  };
  return (socket) => {
    const address = readPeer(socket.remoteAddress);
    if (isTrusted(address)) return;
    const source = sourceNetwork(address);
    const count = open.get(source) ?? 0;
    if (count >= perSourceMax) {
      refuse(socket, address);
      return;
    }
    open.set(source, count + 1);
    socket.once('close', () => {
      leave(source);
    });
  };
}
