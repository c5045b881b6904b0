import type { Problem } from '@reelgate/platform/problem';
import { thenMaybe } from '@reelgate/platform/maybe-promise';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import { covers } from '../../domain/operator-role.ts';
import type { Role, SignedInOperator } from '../../domain/operator-role.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { noSession } from './ended-sessions.ts';
import type { EndedSessions } from './ended-sessions.ts';
import { endOwnSession } from './ended-sessions.ts';
import type { OperatorsInUse } from './operators-in-use.ts';
import { assertOwnRequest } from './own-requests.ts';
import type { OpenedSession, SessionSeal } from './seal-session.ts';
import type { SessionCookie } from './session-cookie.ts';
import { refuse } from '../../refusals.ts';

/** Sessions of the operator console: each is an operator's key in a sealed cookie. */
export interface OperatorSessions {
  /**
   * The operator of a request, with the role that the operator signed in with. Refuses an operator whom the
   * configuration no longer has, or not with that role and key, and a role below the one that is needed.
   */
  operatorOf(exchange: Exchange, needed: Role): MaybePromise<SignedInOperator>;
  /** Refuses a key that no operator has. */
  begin(exchange: Exchange, key: string): Promise<SignedInOperator>;
  /** Resolves when the session has ended at every gateway. */
  end(exchange: Exchange): Promise<void>;
  /** The same for all sessions of the operator. */
  endAll(exchange: Exchange): Promise<void>;
}

export interface OperatorSessionsOptions {
  readonly seal: SessionSeal;
  readonly cookie: SessionCookie;
  readonly ended: EndedSessions;
  readonly inUse: OperatorsInUse;
  /** Undefined if the requests of the console's own pages have its host. */
  readonly publicOrigin: string | undefined;
}

export function operatorSessions(options: OperatorSessionsOptions): OperatorSessions {
  const { seal, cookie, ended, inUse, publicOrigin } = options;
  const openOwn = (exchange: Exchange): OpenedSession | undefined => {
    assertOwnRequest(exchange, publicOrigin);
    const sealed = cookie.read(exchange);
    return sealed === undefined ? undefined : seal.open(sealed);
  };
  const operatorOf = (exchange: Exchange, needed: Role): MaybePromise<SignedInOperator> => {
    const session = openOwn(exchange);
    const operator = session && findHolder(session, inUse);
    if (session === undefined || operator === undefined) throw noSession();
    return thenMaybe(ended.assertLive(session), () => {
      assertRole(operator, needed);
      return operator;
    });
  };
  return {
    operatorOf,
    begin: async (exchange, key) => {
      assertOwnRequest(exchange, publicOrigin);
      const operator = inUse.find(key);
      if (operator === undefined) throw unknownKey();
      const { name, role } = operator;
      const version = await ended.versionNow();
      cookie.write(exchange, seal.seal({ key, subject: formatSubject(name), version, role }));
      return operator;
    },
    end: (exchange) => endOwnSession({ ended, cookie, exchange }, openOwn(exchange)),
    endAll: async (exchange) => {
      await ended.endAll(formatSubject((await operatorOf(exchange, 'viewer')).name));
      cookie.clear(exchange);
    },
  };
}

/** The subject of the sessions of an operator. */
export function formatSubject(name: string): string {
  return `operator:${name}`;
}

/** The operator of a session; undefined if the configuration no longer has the operator as he signed in. */
function findHolder({ key, subject, role }: OpenedSession, inUse: OperatorsInUse) {
  const operator = inUse.find(key);
  if (operator === undefined || role === undefined || formatSubject(operator.name) !== subject) return undefined;
  return covers(operator.role, role) ? { name: operator.name, role } : undefined;
}

function unknownKey(): Problem {
  return refuse('invalid_operator_key', {
    field: 'key',
    message: 'is no key of an operator; expected the key of an entry under operators of the configuration',
  });
}

/** Refuses an operator whose role is below the one that is needed. */
export function assertRole({ name, role }: SignedInOperator, needed: Role): void {
  if (covers(role, needed)) return;
  throw refuse('role_missing', { message: `this needs the role ${needed}; ${name} has the role ${role}` });
}
