import { Problem } from '@reelgate/platform/problem';
import type { Exchange } from '../../http/exchange.ts';
import { assertOwnRequest } from './own-requests.ts';
import type { SessionSeal } from './seal-session.ts';
import type { SessionCookie } from './session-cookie.ts';

/** Sessions of the client console: each is a site token in a sealed cookie. */
export interface ClientSessions {
  /** The site token of a request. The caller still checks it, as for every other request. */
  tokenOf(exchange: Exchange): string;
  begin(exchange: Exchange, token: string): void;
  end(exchange: Exchange): void;
}

export interface ClientSessionsOptions {
  readonly seal: SessionSeal;
  readonly cookie: SessionCookie;
  readonly publicOrigin: string;
}

export function clientSessions({ seal, cookie, publicOrigin }: ClientSessionsOptions): ClientSessions {
  return {
    tokenOf: (exchange) => {
      assertOwnRequest(exchange, publicOrigin);
      const sealed = cookie.read(exchange);
      const token = sealed === undefined ? undefined : seal.open(sealed);
      if (token === undefined) throw signedOut();
      return token;
    },
    begin: (exchange, token) => {
      assertOwnRequest(exchange, publicOrigin);
      cookie.write(exchange, seal.seal(token));
    },
    end: (exchange) => {
      assertOwnRequest(exchange, publicOrigin);
      cookie.clear(exchange);
    },
  };
}

export function signedOut(): Problem {
  return new Problem({
    kind: 'unauthenticated',
    reason: 'signed_out',
    message: 'this needs a session, and there is none or it has ended; sign in again',
  });
}
