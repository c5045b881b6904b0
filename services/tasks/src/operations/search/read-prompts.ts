import type { Clock } from '@reelgate/platform/clock';
import { firstIdAt, readIdTime } from '@reelgate/platform/ids';
import { NOTHING_DUE } from '@reelgate/platform/lifecycle/worker';
import type { PassResult } from '@reelgate/platform/lifecycle/worker';
import { listPromptWords } from '../../domain/prompt-words.ts';
import type { EndsAfter, PromptReading, PromptStore, UnreadPrompt } from '../../store/prompt-store.ts';

const EVENTS_MAX = 200;
const NEWER_MAX = 100;
const LEFT_MAX = 200;
/** Ids of replicas are committed a little out of order. One that comes later is read at its end. */
const SETTLED_MS = 1000;
/** While the process is busy, a prompt waits this long. Then it is read in parallel with the other work. */
const WAIT_MS_MAX = 30_000;

export interface PromptDeps {
  readonly store: PromptStore;
  readonly clock: Clock;
}

export interface ReadingDeps extends PromptDeps {
  /** Reports whether the process has time for work that can wait. */
  readonly hasSpareTime: () => boolean;
}

/**
 * One pass that reads the prompts of tasks, so that they are found by their words. It reads the new ones, and of each
 * task that ended the prompt that was missed. What a process leaves undone the next pass of any process does, because
 * words and place are written together. Clients wait for creates and ends, so a busy process lets prompts wait.
 */
export async function readPrompts({ store, clock, hasSpareTime }: ReadingDeps): Promise<PassResult> {
  const from = await store.getPromptReading();
  const before = firstIdAt('task', clock.now() - SETTLED_MS);
  const [ends, newer] = await Promise.all([
    store.listEndsAfter(from.endedSeq, EVENTS_MAX),
    store.listNewPrompts({ after: from.seenId, before, limit: NEWER_MAX }),
  ]);
  const to: PromptReading = {
    endedSeq: ends.lastSeq ?? from.endedSeq,
    seenId: newer.at(-1)?.id ?? from.seenId,
  };
  if (isSamePlace(from, to)) return NOTHING_DUE;
  if (!hasSpareTime() && clock.now() - findOldest(newer, ends) < WAIT_MS_MAX) return 0;
  const missed = await listMissed(store, ends, to.seenId);
  const read = new Map([...newer, ...missed].map((prompt) => [prompt.id, prompt]));
  await store.keepPromptWords(from, to, [...read.values()].map(toWords));
  // a page that is not full can wait for the next tasks, so that many of them share a pass
  const hasMore = to.endedSeq - from.endedSeq >= EVENTS_MAX || newer.length === NEWER_MAX;
  return hasMore ? 1 : 0;
}

function isSamePlace(one: PromptReading, other: PromptReading): boolean {
  return one.endedSeq === other.endedSeq && one.seenId === other.seenId;
}

/** The time of the first create or end that waits. */
function findOldest([newer]: readonly UnreadPrompt[], { firstAt = Infinity }: EndsAfter): number {
  return newer === undefined ? firstAt : Math.min(firstAt, readIdTime(newer.id) ?? firstAt);
}

/** Tasks after the last new one are still to be read as new ones. */
async function listMissed(
  store: PromptStore,
  { taskIds }: EndsAfter,
  seenId: string,
): Promise<readonly UnreadPrompt[]> {
  const passed = taskIds.filter((id) => id <= seenId);
  return passed.length === 0 ? [] : store.listUnreadPrompts(passed);
}

function toWords({ id, accountId, order }: UnreadPrompt) {
  return { id, accountId, words: listPromptWords(order) };
}

/**
 * One pass that removes the words of tasks that are removed. A task is removed once it is older than the retention
 * time, so only words of older tasks are compared.
 */
export async function removeLeftWords({ store, clock }: PromptDeps, retentionMs: number): Promise<PassResult> {
  const left = await store.listLeftWords(firstIdAt('task', clock.now() - retentionMs), LEFT_MAX);
  if (left.length === 0) return NOTHING_DUE;
  await store.removeWords(left);
  return left.length;
}
