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
