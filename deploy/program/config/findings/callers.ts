import { refuse } from './finding.ts';
import type { ComparedConfig, Finding } from './finding.ts';

export function callerNames({ internal_callers: callers }: ComparedConfig): readonly Finding[] {
  return (['name', 'key'] as const).flatMap((member) =>
    callers.flatMap((caller, at) => {
      const isTaken = callers.findIndex((other) => other[member] === caller[member]) < at;
      return isTaken ? [refuse(['internal_callers', at, member], `expected a ${member} that no other caller has`)] : [];
    }),
  );
}
