import type { Dispatcher } from 'undici';
import { networkFault } from '../../domain/fetch-fault.ts';
import type { KeptConnections } from './kept-connections.ts';
import { openConnection } from './origin-connection.ts';
import type { ConnectionSettings, ConnectionUser, OriginConnection } from './origin-connection.ts';

/** The errors of a connection that its origin has closed. */
const CLOSED: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Reports whether the origin closed the connection before it answered. */
export function isClosedByOrigin(error: unknown): boolean {
  return CLOSED.has((error as { readonly code?: unknown }).code);
}

export interface Requester {
  /** Requests an address. Rejects with a FetchFault. */
  get(url: URL, headers: Readonly<Record<string, string>>): Promise<Dispatcher.ResponseData>;
}

/** The connections of one fetch: one to each origin that it calls. */
export interface FetchConnections extends Requester {
  /** The bytes of all its connections, below any protocol. */
  bytes(): number;
  /** Ends its connections. The last one is kept if its answer was read to its end. */
  end(wasRead: boolean): void;
}

export interface FetchConnectionsDeps {
  readonly settings: ConnectionSettings;
  readonly now: () => number;
  readonly user: ConnectionUser;
  /** Undefined if the fetch does not share connections. */
  readonly kept: KeptConnections | undefined;
}

export function newFetchConnections({ settings, now, user, kept }: FetchConnectionsDeps): FetchConnections {
  const own = new Map<string, OriginConnection>();
  let last: OriginConnection | undefined;
  const connectionTo = (origin: string): OriginConnection => {
    const known = own.get(origin);
    if (known !== undefined) return known;
    const connection = kept?.take(origin) ?? openConnection(origin, settings, now);
    connection.use(user);
    own.set(origin, connection);
    return connection;
  };
  return {
    get: async (url, headers) => {
      const connection = connectionTo(url.origin);
      last = connection;
      const request = { path: url.pathname + url.search, method: 'GET', signal: user.signal, headers } as const;
      const wasOpen = connection.isOpen;
      if (wasOpen) user.enter('headers');
      try {
        // an origin can close an idle connection at the moment of the request: a new one passes the guard
        return await connection.request(request).catch((error: unknown) => {
          if (!wasOpen || user.signal.aborted || !isClosedByOrigin(error)) throw error;
          return connection.request(request);
        });
      } catch (error) {
        throw networkFault(error);
      }
    },
    bytes: () => own.values().reduce((total, connection) => total + connection.bytes(), 0),
    end: (wasRead) => {
      for (const [origin, connection] of own) {
        if (wasRead && connection === last && kept !== undefined) kept.keep(origin, connection);
        else connection.destroy();
      }
    },
  };
}
