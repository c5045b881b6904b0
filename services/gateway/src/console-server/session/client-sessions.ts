import { thenMaybe } from '@reelgate/platform/maybe-promise';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { Exchange } from '../../http/http-exchange.ts';
import { noSession } from './ended-sessions.ts';
import type { EndedSessions } from './ended-sessions.ts';
import { endOwnSession } from './ended-sessions.ts';
import { assertOwnRequest } from './own-requests.ts';
import type { OpenedSession, SessionSeal } from './seal-session.ts';
import type { SessionCookie } from './session-cookie.ts';

/** Sessions of the client console: each is a site token in a sealed cookie. */
export interface ClientSessions {
  /** The site token of a request. The caller still checks it, as for every other request. */
  tokenOf(exchange: Exchange): MaybePromise<string>;
  begin(exchange: Exchange, signedIn: { readonly key: string; readonly tokenId: string }): Promise<void>;
  /** Resolves when the session has ended at every gateway. */
  end(exchange: Exchange): Promise<void>;
  /** The same for all sessions of the token. */
  endAll(exchange: Exchange): Promise<void>;
  /** Clears the cookie alone, of a token that is revoked. */
  forget(exchange: Exchange): void;
}

export interface ClientSessionsOptions {
  readonly seal: SessionSeal;
  readonly cookie: SessionCookie;
  readonly ended: EndedSessions;
  readonly publicOrigin: string;
}

export function clientSessions({ seal, cookie, ended, publicOrigin }: ClientSessionsOptions): ClientSessions {
  const openedOf = (exchange: Exchange): OpenedSession | undefined => {
    assertOwnRequest(exchange, publicOrigin);
    const sealed = cookie.read(exchange);
    return sealed === undefined ? undefined : seal.open(sealed);
  };
  const sessionOf = (exchange: Exchange): MaybePromise<OpenedSession> => {
    const session = openedOf(exchange);
    if (session === undefined) throw noSession();
    return thenMaybe(ended.assertLive(session), () => session);
  };
  return {
    tokenOf: (exchange) => thenMaybe(sessionOf(exchange), ({ key }) => key),
    begin: async (exchange, { key, tokenId }) => {
      assertOwnRequest(exchange, publicOrigin);
      const version = await ended.versionNow();
      cookie.write(exchange, seal.seal({ key, subject: `token:${tokenId}`, version }));
    },
    end: (exchange) => endOwnSession({ ended, cookie, exchange }, openedOf(exchange)),
    endAll: async (exchange) => {
      const { subject } = await sessionOf(exchange);
      await ended.endAll(subject);
      cookie.clear(exchange);
    },
    forget: (exchange) => {
      assertOwnRequest(exchange, publicOrigin);
      cookie.clear(exchange);
    },
  };
}
