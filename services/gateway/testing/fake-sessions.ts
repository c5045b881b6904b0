import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { bind } from '@reelgate/platform/rpc/service';
import type { Client } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { SessionService } from '@reelgate/proto/billing/v1/session_service';
import type { EndedSessions } from '@reelgate/proto/billing/v1/session_service';

/** A session service that keeps everything in memory. Several gateways can share one, as they share billing. */
export interface FakeSessions {
  readonly client: Client<typeof SessionService>;
  /** How often it was asked what has ended. */
  lists: number;
  /** While it is set, billing cannot be reached. */
  isAway: boolean;
  /** What happens before each list is answered. */
  beforeList: () => Promise<void>;
  /** Ends every session, as a full list does. */
  overflow(): void;
}

export function fakeSessions(): FakeSessions {
  let [version, allBefore] = [1n, 0n];
  let ended: Omit<EndedSessions, '$typeName' | '$unknown'>[] = [];
  const fake = { lists: 0, isAway: false, beforeList: async () => {} };
  const assertThere = (): void => {
    if (fake.isAway) throw new StoreUnavailable(new Error('billing is away'));
  };
  const client = directClient(
    SessionService,
    bind(SessionService, {
      endSessions: async ({ subject, session }) => {
        assertThere();
        version += 1n;
        ended.push({ subject, version, ...(session && { session }) });
        return { version };
      },
      listEndedSessions: async ({ since }) => {
        fake.lists += 1;
        assertThere();
        await fake.beforeList();
        return { version, allBefore, ended: ended.filter((one) => one.version > since) };
      },
    }),
    aCaller(),
  );
  return Object.assign(fake, {
    client,
    overflow: () => {
      version += 1n;
      allBefore = version;
      ended = [];
    },
  });
}
