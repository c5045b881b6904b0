import type { Grade } from '@reelgate/platform/diagnosis/self-checks';
import type { DoctorLine } from './doctor-line.ts';

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
