import type { Exchange } from '../../http/http-exchange.ts';
import type { EndableSession, EndedSessions } from './ended-sessions.ts';
import type { SessionCookie } from './session-cookie.ts';
import { refuse } from '../../refusals.ts';

interface OwnSession {
  readonly ended: EndedSessions;
  readonly cookie: SessionCookie;
  readonly exchange: Exchange;
}

/** Ends the session of a request everywhere. If that cannot be done, the browser forgets it, and the answer says so. */
export async function endOwnSession(
  { ended, cookie, exchange }: OwnSession,
  session: EndableSession | undefined,
): Promise<void> {
  cookie.clear(exchange);
  if (session === undefined) return;
  try {
    await ended.end(session);
  } catch (error) {
    throw refuse('sign_out_incomplete', {
      message:
        'this browser has forgotten the session, but the service could not end it: a copy of its cookie may work until ' +
        `${new Date(session.expiresAt).toISOString()}; sign in again later and sign out everywhere`,
      cause: error,
    });
  }
}
