import type { Keys } from '@reelgate/platform/config/config-locations';
import { refuse, refuseIf, warnIf } from './finding.ts';
import type { ComparedConfig, Finding } from './finding.ts';

export function checkCallerNames({ internal_callers: callers }: ComparedConfig): readonly Finding[] {
  return (['name', 'key', 'certificate'] as const).flatMap((member) =>
    callers.flatMap((caller, at) => {
      if (caller[member] === undefined) return [];
      const isTaken = callers.findIndex((other) => other[member] === caller[member]) < at;
      return refuseIf(isTaken, ['internal_callers', at, member], `expected a ${member} that no other caller has`);
    }),
  );
}

export function checkCallerCredentials({
  internal_callers: callers,
  tasks,
  billing,
  media,
}: ComparedConfig): readonly Finding[] {
  const asks = [tasks, billing, media].some(({ tls }) => tls?.client_ca !== undefined);
  return callers.flatMap(({ key, certificate }, at) => {
    if (key === undefined && certificate === undefined)
      return [refuse(['internal_callers', at], 'expected a key, or the name in its certificate as certificate')];
    return warnIf(
      certificate !== undefined && !asks,
      ['internal_callers', at, 'certificate'],
      'no service asks for client certificates; expected tls with client_ca in tasks, billing or media',
    );
  });
}

/** A shorter key could be found by trying. */
const KEY_LENGTH_MIN = 32;

/** Acts are recorded under the name, and the key alone says who signs in. */
export function checkOperatorNames({ operators }: ComparedConfig): readonly Finding[] {
  return (['name', 'key'] as const).flatMap((member) =>
    operators.flatMap((operator, at) => {
      const isTaken = operators.findIndex((other) => other[member] === operator[member]) < at;
      return refuseIf(isTaken, ['operators', at, member], `expected a ${member} that no other operator has`);
    }),
  );
}

/** The messages name the operator or the caller, and never the key. */
export function checkOperatorKeys({ operators, internal_callers: callers }: ComparedConfig): readonly Finding[] {
  return [
    ...operators.flatMap(({ name, key }, at) => checkKeyLength(['operators', at, 'key'], key, `the operator ${name}`)),
    ...callers.flatMap(({ name, key, scopes = [] }, at) =>
      key !== undefined && scopes.includes('operator')
        ? checkKeyLength(['internal_callers', at, 'key'], key, `the caller ${name}, which has the scope operator`)
        : [],
    ),
  ];
}

function checkKeyLength(keys: Keys, key: string, whose: string): readonly Finding[] {
  const expected = `expected a key of at least ${KEY_LENGTH_MIN} characters for ${whose}`;
  return refuseIf(key.length < KEY_LENGTH_MIN, keys, `${expected}; \`openssl rand -base64 32\` makes one`);
}
