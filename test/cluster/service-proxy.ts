import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';

/** Balances the connections to one port of a Service over its endpoints, as a node of a cluster does. */
export interface ServiceProxy {
  close(): Promise<void>;
}

export interface Balanced {
  readonly address: string;
  readonly port: number;
  /** The `host`s of the ready endpoints, now. */
  readonly endpoints: () => readonly string[];
  readonly targetPort: number;
  /** From 0 to 1, exclusive. */
  readonly chance: () => number;
}

/**
 * A connection belongs to one endpoint until it ends, also after that endpoint has left the list. Without an endpoint,
 * or if the endpoint refuses, the connection is reset.
 */
export async function startServiceProxy(balanced: Balanced): Promise<ServiceProxy> {
  const { address, port, endpoints, targetPort, chance } = balanced;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.setNoDelay(true).on('close', () => sockets.delete(socket));
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const hosts = endpoints();
    const host = hosts[Math.floor(chance() * hosts.length)];
    if (host === undefined) {
      near.on('error', () => undefined).resetAndDestroy();
      return;
    }
    const far = keep(connect({ host, port: targetPort, allowHalfOpen: true }));
    keep(near).pipe(far);
    far.pipe(near);
    resetTogether(near, far);
  }).listen(port, address);
  await once(server, 'listening');
  return {
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/**
 * An error of one side resets the other. A regular end of a side passes through the pipes. Once a side is closed, the
 * other is closed too, so that a request which comes at that moment is refused and does not wait for ever.
 */
function resetTogether(near: Socket, far: Socket): void {
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('error', () => {
      other.resetAndDestroy();
    });
    one.on('close', () => {
      other.destroySoon();
    });
  }
}
