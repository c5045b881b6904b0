import { hash } from 'node:crypto';
import { Problem } from '@reelgate/platform/problem';
import type { Secret } from '@reelgate/platform/secret';
import { covers } from '../../domain/operator.ts';
import type { Role, SignedInOperator } from '../../domain/operator.ts';
import type { Exchange } from '../../http/exchange.ts';
import { signedOut } from './client-sessions.ts';
import { assertOwnRequest } from './own-requests.ts';
import type { SessionSeal } from './seal-session.ts';
import type { SessionCookie } from './session-cookie.ts';

/** An operator of the configuration. */
export interface Operator extends SignedInOperator {
  readonly key: Secret;
}

/** Sessions of the operator console: each is an operator's key in a sealed cookie. */
export interface OperatorSessions {
  /** The operator of a request, as the configuration has it now. Refuses a role below the one that is needed. */
  operatorOf(exchange: Exchange, needed: Role): SignedInOperator;
  /** Refuses a key that no operator has. */
  begin(exchange: Exchange, key: string): SignedInOperator;
  end(exchange: Exchange): void;
}

export interface OperatorSessionsOptions {
  readonly seal: SessionSeal;
  readonly cookie: SessionCookie;
  readonly operators: readonly Operator[];
}

export function operatorSessions({ seal, cookie, operators }: OperatorSessionsOptions): OperatorSessions {
  // found by a digest, so the time of a search says nothing about a key
  const byDigest = new Map(operators.map(({ name, role, key }) => [digest(key.reveal()), { name, role }]));
  const find = (key: string | undefined): SignedInOperator | undefined =>
    key === undefined ? undefined : byDigest.get(digest(key));
  return {
    operatorOf: (exchange, needed) => {
      assertOwnRequest(exchange, undefined);
      const sealed = cookie.read(exchange);
      const operator = find(sealed === undefined ? undefined : seal.open(sealed));
      if (operator === undefined) throw signedOut();
      if (!covers(operator.role, needed)) throw roleMissing(operator, needed);
      return operator;
    },
    begin: (exchange, key) => {
      assertOwnRequest(exchange, undefined);
      const operator = find(key);
      if (operator === undefined)
        throw new Problem({
          kind: 'unauthenticated',
          reason: 'invalid_operator_key',
          field: 'key',
          message: 'is no key of an operator; expected the key of an entry under operators of the configuration',
        });
      cookie.write(exchange, seal.seal(key));
      return operator;
    },
    end: (exchange) => {
      assertOwnRequest(exchange, undefined);
      cookie.clear(exchange);
    },
  };
}

function roleMissing({ name, role }: SignedInOperator, needed: Role): Problem {
  return new Problem({
    kind: 'forbidden',
    reason: 'role_missing',
    message: `this needs the role ${needed}; ${name} has the role ${role}`,
  });
}

function digest(text: string): string {
  return hash('sha256', text, 'base64');
}
