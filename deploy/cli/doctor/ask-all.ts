import { describeError } from '@reelgate/platform/lifecycle/when-reachable';
import { awaitFor, inSeconds } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import type { Audience, DoctorLine, DoctorQuestion } from './doctor-line.ts';

/**
 * Asks all questions side by side, and tells each line as it comes. A question that throws or hangs delays no other. The
 * result has the lines in the order of the questions.
 */
export async function askAll(
  questions: readonly DoctorQuestion[],
  deadline: Deadline,
  audience: Audience,
): Promise<readonly DoctorLine[]> {
  return (await Promise.all(questions.map((question) => askOne(question, deadline, audience)))).flat();
}

async function askOne(
  { subject, advice, ask }: DoctorQuestion,
  deadline: Deadline,
  { tell, awaited }: Audience,
): Promise<readonly DoctorLine[]> {
  const lines: DoctorLine[] = [];
  let isOver = false;
  const tellInTime = (...more: readonly DoctorLine[]): void => {
    if (isOver) return;
    lines.push(...more);
    tell(...more);
  };
  const fail = (detail: string): void => {
    tellInTime({ subject, part: '', grade: 'fail', detail, advice });
  };
  awaited.add(subject);
  await awaitFor(
    deadline.clock,
    // A question says at the deadline what it does not know. This ends one that does not.
    deadline.callMs(),
    (signal) =>
      ask(signal, tellInTime).catch((error: unknown) => {
        fail(describeError(error));
      }),
    (waitedMs) => {
      fail(`gave no answer within ${inSeconds(waitedMs)}`);
    },
  );
  isOver = true;
  awaited.delete(subject);
  return lines;
}
