import { refuse } from './finding.ts';
import type { ComparedConfig, Finding } from './finding.ts';

/** Acts are recorded under the name, and the key alone says who signs in. */
export function operatorNames({ operators }: ComparedConfig): readonly Finding[] {
  return (['name', 'key'] as const).flatMap((member) =>
    operators.flatMap((operator, at) => {
      const isTaken = operators.findIndex((other) => other[member] === operator[member]) < at;
      return isTaken ? [refuse(['operators', at, member], `expected a ${member} that no other operator has`)] : [];
    }),
  );
}
