import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { requireField } from '@reelgate/platform/rpc/rules';
import { bind } from '@reelgate/platform/rpc/service';
import type { Binding } from '@reelgate/platform/rpc/service';
import { SessionService } from '@reelgate/proto/billing/v1/session_service';
import { endSessions } from '../operations/sessions/end-sessions.ts';
import type { SessionDeps } from '../operations/sessions/end-sessions.ts';

/** Decodes, runs the operation, encodes. */
export function sessionService(deps: SessionDeps): Binding {
  return bind(SessionService, {
    endSessions: async ({ subject, session: wire }) => {
      const session = wire && {
        digest: wire.digest,
        expiresAt: timestampMs(requireField(wire.expiresAt, 'session.expires_at')),
      };
      return { version: BigInt(await endSessions(deps, { subject, session })) };
    },
    listEndedSessions: async ({ since }) => {
      const { version, allBefore, ended } = await deps.sessions.list(Number(since));
      return {
        version: BigInt(version),
        allBefore: BigInt(allBefore),
        ended: ended.map(({ subject, session, version: endedBy }) => ({
          subject,
          version: BigInt(endedBy),
          ...(session && {
            session: { digest: session.digest, expiresAt: timestampFromMs(session.expiresAt) },
          }),
        })),
      };
    },
  });
}
