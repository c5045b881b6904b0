import type { Grade } from '@reelgate/platform/diagnosis/self-checks';
import type { DoctorLine } from './doctor-line.ts';

const GRADES: readonly Grade[] = ['fail', 'warn', 'ok'];
const INDENT = ' '.repeat(6);

/** A line for each finding, what to do below it, and the numbers at the end. */
export function linesAsText(lines: readonly DoctorLine[]): string {
  const width = Math.max(0, ...lines.map(({ subject }) => subject.length));
  const shown = lines.flatMap(({ grade, subject, part, detail, advice }) => [
    `${grade.padEnd(4)}  ${subject.padEnd(width)}  ${part === '' ? '' : `${part}: `}${oneLine(detail)}`,
    ...(advice === '' ? [] : [`${INDENT}${' '.repeat(width)}  do: ${oneLine(advice)}`]),
  ]);
  const counts = GRADES.map((grade) => `${String(lines.filter((line) => line.grade === grade).length)} ${grade}`);
  return [...shown, '', counts.join(', ')].join('\n');
}

/** Words of an upstream may hold line ends and control characters. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
}
