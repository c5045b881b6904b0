import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { OriginConnection } from './origin-connection.ts';

/** The time for which an idle connection is kept, in milliseconds: less than most servers keep it. */
export const IDLE_MS = 4000;
/** The longest life of a connection. After it the name is resolved and judged again. */
const LIFE_MS = 60_000;

export interface KeptBounds {
  /** The maximum number of idle connections in total. */
  readonly total: number;
  /** The maximum number under one key. */
  readonly perKey: number;
}

/** As many connections to one origin as results are fetched concurrently by default. */
const OF_RESULTS: KeptBounds = { total: 128, perKey: 64 };

/**
 * Idle connections that the next request under the same key uses. A key stands for one origin, and for one account
 * where accounts do not share connections. Each connection leads to the address that was checked when it was opened,
 * and is used under the scheme, name and port for which it was opened.
 */
export interface KeptConnections {
  take(key: string): OriginConnection | undefined;
  /** Keeps a connection if its last answer was read to the end. Otherwise ends the connection. */
  keep(key: string, connection: OriginConnection): void;
}

interface Idle {
  readonly key: string;
  readonly connection: OriginConnection;
  /** Aborted when it is no longer idle. */
  readonly taken: AbortController;
}

export function newKeptConnections(clock: Clock, stopping: AbortSignal, bounds = OF_RESULTS): KeptConnections {
  const idle: Idle[] = [];
  const remove = (kept: Idle | undefined): OriginConnection | undefined => {
    const at = kept === undefined ? -1 : idle.indexOf(kept);
    if (at < 0) return undefined;
    const [removed] = idle.splice(at, 1);
    removed?.taken.abort(NOT_AWAITED);
    return removed?.connection;
  };
  const expire = async (kept: Idle): Promise<void> => {
    await clock.sleep(IDLE_MS, kept.taken.signal);
    if (!kept.taken.signal.aborted) remove(kept)?.destroy();
  };
  const makeRoom = (key: string): void => {
    const ofKey = idle.filter((kept) => kept.key === key);
    const oldest = ofKey.length >= bounds.perKey ? ofKey[0] : idle.length >= bounds.total ? idle[0] : undefined;
    remove(oldest)?.destroy();
  };
  stopping.addEventListener(
    'abort',
    () => {
      while (idle.length > 0) remove(idle[0])?.destroy();
    },
    { once: true },
  );
  return {
    take: (key) => {
      for (;;) {
        const connection = remove(idle.findLast((kept) => kept.key === key));
        if (connection === undefined || connection.isOpen) return connection;
        connection.destroy();
      }
    },
    keep: (key, connection) => {
      const age = clock.now() - connection.connectedAt;
      if (stopping.aborted || !connection.isOpen || age < 0 || age >= LIFE_MS) {
        connection.destroy();
        return;
      }
      connection.leave();
      makeRoom(key);
      const kept = { key, connection, taken: new AbortController() };
      idle.push(kept);
      void expire(kept);
    },
  };
}
