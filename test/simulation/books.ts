import { setTimeout as wait } from 'node:timers/promises';
import type { Program } from '../harness/program.ts';
import { secondsOf } from '../harness/scripted-upstream.ts';
import type { Work } from '../harness/scripted-upstream.ts';
import { listTasks, promptOf } from '../harness/records.ts';
import type { ShownTask } from '../harness/records.ts';

const PAGE = 1000;
const LOOK_MS = 500;
const ENDED: ReadonlySet<string> = new Set(['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED']);
const MARK = /\[mark:([\w-]+)\]/;
/** In cents per second. */
const PRICE: Readonly<Record<string, number>> = { '768P': 8, '2K': 13 };

export const markOf = (task: ShownTask): string => MARK.exec(promptOf(task))?.[1] ?? '';

/** The upstream's id of the task, from the answer or from the search. */
export function upstreamIdOf({ attempts, events }: ShownTask): string | undefined {
  const accepted = attempts.find(({ outcome }) => outcome === 'accepted');
  if (accepted !== undefined) return accepted.upstreamId;
  const adopted = events.find(({ type }) => type === 'adopted');
  return adopted && (JSON.parse(adopted.detailJson) as { readonly upstreamId: string }).upstreamId;
}

/** Every task of the account except the refused ones. */
export async function tasksOf(program: Pick<Program, 'command'>, account: string): Promise<readonly ShownTask[]> {
  const all: ShownTask[] = [];
  for (;;) {
    const after = all.length === 0 ? [] : ['--after', all.at(-1)!.id];
    const page = await listTasks(program, '--account', account, '--limit', String(PAGE), ...after);
    all.push(...page);
    if (page.length < PAGE) return all.filter(({ admission }) => admission !== 'refused');
  }
}

/** Waits until every task has ended and is settled, or waits with an unknown outcome. */
export async function untilSettled(
  program: Pick<Program, 'command'>,
  account: string,
  timeoutMs: number,
): Promise<readonly ShownTask[]> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    // A service that has just restarted may not answer yet.
    const tasks = await tasksOf(program, account).catch((error: unknown) => error as Error);
    const moving = tasks instanceof Error ? [tasks.message] : tasks.filter(isMoving);
    if (!(tasks instanceof Error) && moving.length === 0) return tasks;
    if (performance.now() > deadline)
      throw new Error(`${moving.length} tasks do not end, such as ${JSON.stringify(moving[0])}`);
    await wait(LOOK_MS);
  }
}

/** Whether a task and its money, which are read one after the other, agree that it has ended or that it is unknown. */
function isMoving({ admission, state, settlement }: ShownTask): boolean {
  return admission === 'unknown' ? settlement !== undefined : settlement === undefined || !ENDED.has(state);
}

/** The cents that the upstream task must cost, by its reported usage. */
export function costOf(work: Work): number {
  return work.words.has('fail') ? 0 : secondsOf(work) * (PRICE[work.order.resolution] ?? Number.NaN);
}

/** A decimal amount in whole cents; NaN if it is not whole. */
export function cents(amount: string): number {
  const value = Math.round(Number(amount) * 100);
  return Math.abs(value - Number(amount) * 100) < 1e-6 ? value : Number.NaN;
}
