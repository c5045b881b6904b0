import type { Grade } from '@reelgate/platform/diagnosis/self-checks';

/** A line of the doctor: the question, the verdict and the remedy. */
export interface DoctorLine {
  /** Such as `tasks (host:1234)`, `channel alpha` or `ledger`. */
  readonly subject: string;
  /** Such as `database`. Empty for the subject as a whole. */
  readonly part: string;
  readonly grade: Grade;
  readonly detail: string;
  /** Empty if no action is needed. */
  readonly advice: string;
}

/** Takes lines as they come. Those of one call belong together. */
export type Report = (...lines: readonly DoctorLine[]) => void;

/** The reader of the lines. */
export interface Audience {
  readonly report: Report;
  /** The subjects with questions that are not answered yet. */
  readonly awaited: Set<string>;
}

/** A question of the doctor. It may throw or hang, which is a line too. */
export interface DoctorQuestion {
  readonly subject: string;
  /** The remedy if the question is not answered. */
  readonly advice: string;
  readonly ask: (signal: AbortSignal, report: Report) => Promise<void>;
}

export function findWorstGrade(lines: readonly { readonly grade: Grade }[]): Grade {
  if (lines.some(({ grade }) => grade === 'fail')) return 'fail';
  return lines.some(({ grade }) => grade === 'warn') ? 'warn' : 'ok';
}
