import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { BLOCKED } from '../addresses/address-policy.ts';
import { FetchFault, HandshakeFault, addressFault } from '../../domain/fetch-fault.ts';
import { policyLookup } from '../addresses/policy-lookup.ts';
import type { LookupLimits, LookupPolicy } from '../addresses/policy-lookup.ts';
import type { AddressGate } from '../permits/keyed-permits.ts';

const HTTP_PORT = 80;
const HTTPS_PORT = 443;

/** The fetch that opens or uses a connection. Its limits, its permits and its signal apply to the connection. */
export interface DialLimits extends LookupLimits {
  /** Called at each stage of a connection, so that each stage can have its own time limit. */
  readonly enter: (stage: 'resolve' | 'queue' | 'connect' | 'headers') => void;
  /** Permits for the addresses of a name. An address in the URL itself got its permit with the host. */
  readonly permits: AddressGate;
}

export interface ConnectorOptions extends DialLimits, LookupPolicy {
  /** Called for every socket, so that no socket outlives its fetch. */
  readonly opened: (socket: Socket) => void;
}

/** The contract of undici's connectors: they return the socket immediately, and pass it on when it is ready. */
type Connect = (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;

/**
 * Connects in two steps, so that `http:` and `https:` pass the same three checks. An address in the URL is checked
 * before it is dialled, because sockets resolve names only. A name is checked by all its answers. The address that is
 * reached is checked once more before a byte is sent. TLS is added on top of that socket: a TLS connection ignores a
 * block list.
 */
export function newGuardedConnector(options: ConnectorOptions): buildConnector.connector {
  const { policy, permits, enter, opened, signal } = options;
  const secure = buildConnector({
    rejectUnauthorized: true,
    allowH2: false,
    maxCachedSessions: 0,
    timeout: 0,
  }) as unknown as Connect;

  return (target, settle) => {
    let making: Socket | undefined;
    // the client waits until a connection ends, even if it is aborted
    const giveUp = (): void => {
      making?.destroy(signal.reason as Error);
    };
    const callback: buildConnector.Callback = (...outcome) => {
      signal.removeEventListener('abort', giveUp);
      settle(...outcome);
    };
    const trackSocket = (socket: Socket): void => {
      making = socket;
      opened(socket);
      if (signal.aborted) giveUp();
    };
    signal.addEventListener('abort', giveUp, { once: true });
    const port = readTargetPort(target);
    const isLiteral = isIP(target.hostname) !== 0;
    if (isLiteral && !policy.permits(target.hostname, port)) {
      callback(addressFault(`the address ${target.hostname} is not dialled`), null);
      return;
    }
    if (isLiteral && policy.isException(target.hostname, port)) options.recordException?.();
    enter(isLiteral ? 'connect' : 'resolve');
    trackSocket(
      plainConnector(options, port)({ ...target, protocol: 'http:', port: String(port) }, (error, socket) => {
        if (error !== null) {
          callback(error, null);
          return;
        }
        if (!policy.permits(socket.remoteAddress ?? '', port)) {
          socket.destroy();
          callback(
            addressFault(`${target.hostname} led to ${socket.remoteAddress ?? 'nowhere'}, which is not dialled`),
            null,
          );
          return;
        }
        if (!isLiteral) permits.reached(socket.remoteAddress ?? '');
        const ready = (secured: Socket): void => {
          enter('headers');
          callback(null, secured);
        };
        if (target.protocol !== 'https:') {
          ready(socket);
          return;
        }
        trackSocket(secure({ ...target, httpSocket: socket }, handshake(ready, callback)));
      }),
    );
  };
}

/** The end of a TLS handshake. An abort keeps its own fault. */
function handshake(ready: (secured: Socket) => void, callback: buildConnector.Callback): buildConnector.Callback {
  return (error, secured) => {
    if (error === null) ready(secured);
    else callback(error instanceof FetchFault ? error : new HandshakeFault(error), null);
  };
}

/** Makes the TCP connection, for `http:` and `https:` alike. */
function plainConnector(options: ConnectorOptions, port: number): Connect {
  return buildConnector({
    timeout: 0,
    autoSelectFamily: true,
    lookup: admittingLookup(options, port),
    ...(options.policy.hasExceptionOn(port) ? {} : { blockList: BLOCKED }),
  }) as unknown as Connect;
}

/**
 * Looks up a name under the time limit of the queue, because it waits for the permits of the name's addresses. Dialling
 * has its own limit.
 */
function admittingLookup(options: ConnectorOptions, port: number): ReturnType<typeof policyLookup> {
  const { enter, permits } = options;
  return policyLookup(options, port, async (found) => {
    enter('queue');
    const admitted = await permits.admit(found);
    enter('connect');
    return admitted;
  });
}

function readTargetPort({ port, protocol }: buildConnector.Options): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? HTTPS_PORT : HTTP_PORT;
}
