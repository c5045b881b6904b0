import type { Grade } from '@reelgate/platform/diagnosis/self-checks';

/** A line of the doctor: what was asked, how it is, and what to do. */
export interface DoctorLine {
  /** Such as `tasks (host:1234)`, `channel alpha` or `ledger`. */
  readonly subject: string;
  /** Such as `database`; empty: the subject as a whole. */
  readonly part: string;
  readonly grade: Grade;
  readonly detail: string;
  /** Empty: nothing is to be done. */
  readonly advice: string;
}

/** A question of the doctor. It may throw or hang: that is a line too. */
export interface DoctorQuestion {
  readonly subject: string;
  /** The longest time of the question. */
  readonly msMax: number;
  /** What to do if the question is not answered. */
  readonly advice: string;
  readonly ask: (signal: AbortSignal) => Promise<readonly DoctorLine[]>;
}

export function worstOf(lines: readonly { readonly grade: Grade }[]): Grade {
  if (lines.some(({ grade }) => grade === 'fail')) return 'fail';
  return lines.some(({ grade }) => grade === 'warn') ? 'warn' : 'ok';
}
