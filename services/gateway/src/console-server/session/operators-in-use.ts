import { hash } from 'node:crypto';
import { deriveSecret } from '@reelgate/platform/secret';
import type { Secret, SigningKey } from '@reelgate/platform/secret';
import { covers } from '../../domain/operator-role.ts';
import type { SignedInOperator } from '../../domain/operator-role.ts';

/** An operator of the configuration. */
export interface Operator extends SignedInOperator {
  readonly key: Secret;
}

/** The operators of the configuration that is in use. */
export interface OperatorsInUse {
  isEmpty(): boolean;
  /** Returns undefined if no operator has this key. */
  find(key: string): SignedInOperator | undefined;
  /** Gives the names of the operators that lose their sessions: gone, with a lower role or with another key. */
  replace(operators: readonly Operator[]): readonly string[];
}

export function operatorsInUse(first: readonly Operator[]): OperatorsInUse {
  let operators = first;
  let byDigest = indexByDigest(first);
  return {
    isEmpty: () => operators.length === 0,
    find: (key) => byDigest.get(digest(key)),
    replace: (next) => {
      const lost = operators.filter((before) => !next.some((after) => keepsSessions(before, after)));
      operators = next;
      byDigest = indexByDigest(next);
      return lost.map(({ name }) => name);
    },
  };
}

function keepsSessions(before: Operator, after: Operator): boolean {
  return before.name === after.name && before.key.reveal() === after.key.reveal() && covers(after.role, before.role);
}

/** Found by a digest, so the time of a search says nothing about a key. */
function indexByDigest(operators: readonly Operator[]): ReadonlyMap<string, SignedInOperator> {
  return new Map(operators.map(({ name, role, key }) => [digest(key.reveal()), { name, role }]));
}

function digest(text: string): string {
  return hash('sha256', text, 'base64');
}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;
const KEY_PURPOSE = 'console-operator';

export interface OperatorsConfig {
  readonly admin: { readonly host: string; readonly port: number } | undefined;
  readonly console: { readonly operators: readonly Operator[] };
}

/**
 * Returns the operators who may sign in at the operator console. Without operators in the configuration an admin port
 * that only this machine reaches has one, `local`, whose key follows from the signing key. An empty list: there is no
 * operator console.
 */
export function listOperators(
  { admin, console: { operators } }: OperatorsConfig,
  signingKey: SigningKey,
): readonly Operator[] {
  if (operators.length > 0) return operators;
  if (admin === undefined || !LOOPBACK.test(admin.host)) return [];
  return [{ name: 'local', role: 'treasurer', key: deriveSecret(signingKey, KEY_PURPOSE) }];
}
