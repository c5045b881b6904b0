import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { Client } from 'undici';
import type { Dispatcher, buildConnector } from 'undici';
import { addressFault } from '../../domain/fetch-fault.ts';
import { newGuardedConnector } from './guarded-connector.ts';
import type { DialLimits } from './guarded-connector.ts';
import type { LookupPolicy } from '../addresses/policy-lookup.ts';

/** Created once: without it the client creates errors with a stack at the end of each connection. */
const ENDED = new Error('the connection has ended');

/** The fetch that uses a connection. */
export interface ConnectionUser extends DialLimits {
  /** Takes an error of the network. */
  broke(error: Error): void;
}

export interface ConnectionSettings extends LookupPolicy {
  readonly headerBytesMax: number;
  /** The time after which an idle connection ends, undefined to end it after each answer. */
  readonly idleMs: number | undefined;
}

/** One connection to one origin, for one fetch at a time. If it is closed, the next request passes the guard again. */
export interface OriginConnection {
  /** The time at which the address was judged and connected to. */
  readonly connectedAt: number;
  /** True if a request needs no new connection. */
  readonly isOpen: boolean;
  /** The bytes that have come since the present user took it, below any protocol. */
  bytes(): number;
  use(user: ConnectionUser): void;
  leave(): void;
  request(options: Omit<Dispatcher.RequestOptions, 'origin'>): Promise<Dispatcher.ResponseData>;
  /** Does the same without a stream for the body: the handler gets each piece as it arrives. */
  dispatch(options: Omit<Dispatcher.DispatchOptions, 'origin'>, handler: Dispatcher.DispatchHandler): void;
  destroy(): void;
}

export function openConnection(
  origin: string,
  { policy, dnsServers, headerBytesMax, idleMs }: ConnectionSettings,
  now: () => number,
): OriginConnection {
  let user: ConnectionUser | undefined;
  let current: Socket | undefined;
  let connectedAt = 0;
  let sockets: readonly Socket[] = [];
  let bytesBefore = 0;

  const opened = (socket: Socket): void => {
    socket.on('error', (error) => {
      // the client ends its connections with its own errors
      if ('syscall' in error) user?.broke(error);
    });
    sockets = [...sockets, socket];
  };
  const connect: buildConnector.connector = (target, settle) => {
    if (user === undefined) {
      settle(addressFault('no fetch uses this connection'), null);
      return;
    }
    newGuardedConnector({ policy, dnsServers, ...user, opened })(target, (...outcome) => {
      current = outcome[1] ?? undefined;
      connectedAt = now();
      settle(...outcome);
    });
  };
  const client = new Client(origin, {
    connect,
    allowH2: false,
    maxHeaderSize: headerBytesMax,
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(idleMs === undefined ? { pipelining: 0 } : { keepAliveTimeout: idleMs, keepAliveMaxTimeout: idleMs }),
  });
  return {
    get connectedAt() {
      return connectedAt;
    },
    get isOpen() {
      return current !== undefined && !current.destroyed && !current.readableEnded;
    },
    bytes: () => bytesThrough(sockets) - bytesBefore,
    use: (next) => {
      sockets = sockets.filter((socket) => !socket.destroyed);
      bytesBefore = bytesThrough(sockets);
      user = next;
    },
    leave: () => void (user = undefined),
    request: (options) => client.request(options),
    dispatch: (options, handler) => void client.dispatch(options, handler),
    destroy: () => {
      user = undefined;
      // the TLS socket is first: the process crashes if the socket below it is destroyed before it
      for (const socket of sockets.toReversed()) socket.destroy();
      void client.destroy(ENDED);
    },
  };
}

/** The bytes of the connections, below any protocol. */
function bytesThrough(sockets: readonly Socket[]): number {
  return sockets.reduce((total, socket) => total + (socket instanceof TLSSocket ? 0 : socket.bytesRead), 0);
}
