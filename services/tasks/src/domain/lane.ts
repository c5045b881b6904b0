import type { Kind } from './order.ts';

/** The tasks of a lane can be done by the same channels: these members decide which ones. */
export interface Lane {
  readonly kind: Kind;
  readonly model: string;
  /** The only upstream accounts that can do it, sorted. Absent: any. */
  readonly accounts?: readonly string[] | undefined;
  /** The channels that cannot do it although they serve its model, sorted. */
  readonly without: readonly string[];
}

/** The name of a lane, from which `readLane` reads it again. Equal lanes have equal names. */
export function nameLane({ kind, model, accounts, without }: Lane): string {
  return JSON.stringify([kind, model, accounts ?? null, without]);
}

export function readLane(name: string): Lane {
  const [kind, model, accounts, without] = JSON.parse(name) as [Kind, string, string[] | null, string[]];
  return { kind, model, accounts: accounts ?? undefined, without };
}
