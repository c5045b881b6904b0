import { Problem } from './problem.ts';
import type { ProblemInit, ProblemKind } from './problem.ts';

/** A reason that a service gives. */
export interface RefusalEntry {
  /** The family decides the gRPC and the HTTP status. */
  readonly kind: ProblemKind;
  /** The sentence, if it does not depend on the request. */
  readonly message?: string;
}

/** Every refusal of a service, by its reason. */
export type RefusalTable = Readonly<Record<string, RefusalEntry>>;

type Details<Entry> = Entry extends { readonly message: string }
  ? [details?: Omit<ProblemInit, 'kind' | 'reason' | 'message'> & { readonly message?: string }]
  : [details: Omit<ProblemInit, 'kind' | 'reason'>];

/** Returns a function that builds a refusal of the table. The compiler knows its reasons and which need a sentence. */
export function newRefusals<const Table extends RefusalTable>(table: Table) {
  return <Reason extends keyof Table & string>(reason: Reason, ...[details]: Details<Table[Reason]>): Problem => {
    const { kind, message = '' } = table[reason] as RefusalEntry;
    return new Problem({ ...details, message: details?.message ?? message, kind, reason });
  };
}
