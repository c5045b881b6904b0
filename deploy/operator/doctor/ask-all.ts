import type { Clock } from '@reelgate/platform/clock';
import { reasonOf } from '@reelgate/platform/lifecycle/when-reachable';
import type { DoctorLine, DoctorQuestion } from './doctor-line.ts';

/** Asks all questions side by side. One that throws or hangs delays no other. The lines stand in their order. */
export async function askAll(
  questions: readonly DoctorQuestion[],
  clock: Pick<Clock, 'sleep'>,
): Promise<readonly DoctorLine[]> {
  return (await Promise.all(questions.map((question) => askOne(question, clock)))).flat();
}

async function askOne(
  { subject, msMax, advice, ask }: DoctorQuestion,
  clock: Pick<Clock, 'sleep'>,
): Promise<readonly DoctorLine[]> {
  const failed = (detail: string): readonly DoctorLine[] => [{ subject, part: '', grade: 'fail', detail, advice }];
  const [ended, late] = [new AbortController(), new AbortController()];
  const limit = clock.sleep(msMax, ended.signal).then(() => {
    late.abort();
    return failed(`gave no answer within ${String(msMax / 1000)} s`);
  });
  try {
    return await Promise.race([ask(late.signal).catch((error: unknown) => failed(reasonOf(error))), limit]);
  } finally {
    ended.abort();
  }
}
