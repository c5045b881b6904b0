import { deriveSecret } from '@reelgate/platform/secret';
import type { SigningKey } from '@reelgate/platform/secret';
import type { Operator } from '../session/operators-in-use.ts';

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
