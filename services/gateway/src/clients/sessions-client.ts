import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@reelgate/platform/rpc/service';
import type { SessionService } from '@reelgate/proto/billing/v1/session_service';

/** A page waits no longer for it. */
const LIST_DEADLINE_MS = 5000;
const END_DEADLINE_MS = 5000;

/** A session that has ended, or all sessions that a subject began before a version. */
export interface EndedSession {
  readonly subject: string;
  /** The session, undefined if all that began before the version have ended. */
  readonly session: { readonly digest: string; readonly expiresAt: number } | undefined;
  readonly version: number;
}

/** The sessions that have ended since a version. */
export interface EndedList {
  readonly version: number;
  /** Every session that began before this version has ended. */
  readonly allBefore: number;
  readonly ended: readonly EndedSession[];
}

/** The sessions that have ended, as billing keeps them. */
export interface SessionRecords {
  listEnded(since: number): Promise<EndedList>;
  /** Resolves to the version of the ending, once it is durable. */
  end(ending: Omit<EndedSession, 'version'>): Promise<number>;
}

export function sessionRecords(rpc: Client<typeof SessionService>): SessionRecords {
  return {
    listEnded: async (since) => {
      const list = await rpc.listEndedSessions({ since: BigInt(since) }, { timeoutMs: LIST_DEADLINE_MS });
      return {
        version: Number(list.version),
        allBefore: Number(list.allBefore),
        ended: list.ended.map(({ subject, session, version }) => ({
          subject,
          version: Number(version),
          session: session && {
            digest: session.digest,
            expiresAt: session.expiresAt === undefined ? 0 : timestampMs(session.expiresAt),
          },
        })),
      };
    },
    end: async ({ subject, session }) => {
      const wire = session && { digest: session.digest, expiresAt: timestampFromMs(session.expiresAt) };
      const { version } = await rpc.endSessions(
        { subject, ...(wire && { session: wire }) },
        { timeoutMs: END_DEADLINE_MS },
      );
      return Number(version);
    },
  };
}
