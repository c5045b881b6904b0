import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { OriginConnection } from './origin-connection.ts';

/** How long an idle connection is kept: less than most servers keep it. */
export const IDLE_MS = 4000;
/** The longest life of a connection. After it the name is resolved and judged again. */
const LIFE_MS = 60_000;
/** The most idle connections over all, and to one origin: as many as results are fetched at one time by default. */
const IDLE_MAX = 128;
const IDLE_PER_ORIGIN_MAX = 64;

/**
 * Idle connections that the next fetch from the same origin uses. Each leads to the address that was judged when it was
 * made, and is used under the scheme, name and port for which it was made.
 */
export interface KeptConnections {
  take(origin: string): OriginConnection | undefined;
  /** Keeps a connection whose last answer was read to its end, or ends it. */
  keep(connection: OriginConnection): void;
}

interface Idle {
  readonly connection: OriginConnection;
  /** Aborted when it is no longer idle. */
  readonly taken: AbortController;
}

export function keptConnections(clock: Clock, stopping: AbortSignal): KeptConnections {
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
  const makeRoom = (origin: string): void => {
    const ofOrigin = idle.filter(({ connection }) => connection.origin === origin);
    const oldest = ofOrigin.length >= IDLE_PER_ORIGIN_MAX ? ofOrigin[0] : idle.length >= IDLE_MAX ? idle[0] : undefined;
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
    take: (origin) => {
      for (;;) {
        const connection = remove(idle.findLast((kept) => kept.connection.origin === origin));
        if (connection === undefined || connection.isOpen) return connection;
        connection.destroy();
      }
    },
    keep: (connection) => {
      const age = clock.now() - connection.connectedAt;
      if (stopping.aborted || !connection.isOpen || age < 0 || age >= LIFE_MS) {
        connection.destroy();
        return;
      }
      connection.leave();
      makeRoom(connection.origin);
      const kept = { connection, taken: new AbortController() };
      idle.push(kept);
      void expire(kept);
    },
  };
}
