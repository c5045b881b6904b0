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

const GRADES: readonly Grade[] = ['fail', 'warn', 'ok'];
const INDENT = ' '.repeat(6);
/** The subjects of most lines are shorter, so the column seldom grows while lines come. */
const SUBJECT_WIDTH_MIN = 24;

/**
 * Returns the function that formats a line for a person, with the remedy below it. The column of the subject is as wide
 * as the widest one so far, because later ones are not known yet.
 */
export function newLineFormat(): (line: DoctorLine) => string {
  let width = SUBJECT_WIDTH_MIN;
  return ({ grade, subject, part, detail, advice }) => {
    width = Math.max(width, subject.length);
    const shown = `${grade.padEnd(4)}  ${subject.padEnd(width)}  ${part === '' ? '' : `${part}: `}${oneLine(detail)}`;
    return advice === '' ? shown : `${shown}\n${INDENT}${' '.repeat(width)}  do: ${oneLine(advice)}`;
  };
}

/** Counts the lines by grade, for the end of the text. */
export function countLines(lines: readonly DoctorLine[]): string {
  return GRADES.map((grade) => `${lines.filter((line) => line.grade === grade).length} ${grade}`).join(', ');
}

/** Words of an upstream may hold line ends and control characters. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
}
