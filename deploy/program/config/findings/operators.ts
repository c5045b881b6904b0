import { refuse } from './finding.ts';
import type { ComparedConfig, Finding } from './finding.ts';

/** A shorter key could be found by trying. */
const KEY_LENGTH_MIN = 32;

/** Acts are recorded under the name, and the key alone says who signs in. */
export function operatorNames({ operators }: ComparedConfig): readonly Finding[] {
  return (['name', 'key'] as const).flatMap((member) =>
    operators.flatMap((operator, at) => {
      const isTaken = operators.findIndex((other) => other[member] === operator[member]) < at;
      return isTaken ? [refuse(['operators', at, member], `expected a ${member} that no other operator has`)] : [];
    }),
  );
}

/** The message names the operator, and never the key. */
export function operatorKeys({ operators }: ComparedConfig): readonly Finding[] {
  return operators.flatMap(({ name, key }, at) => {
    const expected = `expected a key of at least ${String(KEY_LENGTH_MIN)} characters for the operator ${name}`;
    return key.length < KEY_LENGTH_MIN
      ? [refuse(['operators', at, 'key'], `${expected}; \`openssl rand -base64 32\` makes one`)]
      : [];
  });
}
