import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { QueuePlace } from '@reelgate/proto/tasks/v1/queue';
import { readWantedWords } from '../../domain/prompt-words.ts';
import { buildTimeline } from '../../domain/rules/timeline.ts';
import type { TimelineEntry } from '../../domain/rules/timeline.ts';
import { isTerminal } from '../../domain/task.ts';
import type { Task } from '../../domain/task.ts';
import type { ListFilter, Page, TaskCount, TaskStep } from '../../store/task-store.ts';
import type { Deps, StoreDeps } from '../deps.ts';
import { stepsNeeded, taskNotFound } from '../task-refusals.ts';
import { refuse } from '../../refusals.ts';

/** A caller that polls more often gains no time. */
const POLL_AFTER_MS_MIN = 1000;
/** For a task with a distant turn. */
const POLL_AFTER_MS_MAX = 30_000;
/** For a task with no time for its next poll, such as a new one, or with an overdue poll. */
const POLL_AFTER_UNKNOWN_MS = 2000;

/** Reads a task for its owner. For other accounts the task does not exist. */
export async function getTask({ store }: StoreDeps, accountId: string, taskId: string): Promise<Task> {
  const task = await store.findOwned(accountId, taskId);
  if (task === undefined) throw taskNotFound();
  return task;
}

export interface TaskPage {
  readonly tasks: readonly Task[];
  readonly hasMore: boolean;
  readonly total: number | undefined;
}

export type OwnersFilter = ListFilter & { readonly accountId: string };

/**
 * Lists a page of tasks. An operator may name no account. A page may begin after a removed task, as long as its record
 * is kept.
 */
export async function listTasks(
  { store }: StoreDeps,
  filter: ListFilter,
  page: Page,
  withTotal: boolean,
): Promise<TaskPage> {
  if (page.after !== undefined) assertPosition(await store.find(page.after), filter.accountId ?? '', 'task');
  const found = await store.list(filter, { ...page, limit: page.limit + 1 });
  return {
    tasks: found.slice(0, page.limit),
    hasMore: found.length > page.limit,
    total: withTotal ? await store.count(filter) : undefined,
  };
}

/** The narrowing that only lists in steps have, as a caller asks for it. */
export interface StepQuestion {
  /** Words of the prompt, as a person writes them. Empty for any prompt. */
  readonly words: string;
  readonly tokenId: string;
  /** The number up to which tasks are counted. 0 if they are not counted. */
  readonly countMax: number;
}

export interface CountedStep extends TaskStep {
  readonly counted: TaskCount;
}

const NONE: CountedStep = { tasks: [], counted: { count: 0, isWhole: true } };
const UNCOUNTED: TaskCount = { count: 0, isWhole: false };

/** Refuses a question that a whole list cannot answer within a bound. */
export function assertInSteps({ words, tokenId, countMax }: StepQuestion): void {
  if (words !== '' || tokenId !== '' || countMax !== 0) throw stepsNeeded();
}

/** Lists the next tasks that match, among a bounded number of tasks. */
export async function listTaskStep(
  { store }: StoreDeps,
  wanted: ListFilter,
  page: Omit<Page, 'offset'>,
  { words, tokenId, countMax }: StepQuestion,
): Promise<CountedStep> {
  if (page.after !== undefined) assertPosition(await store.find(page.after), wanted.accountId ?? '', 'task');
  const prompt = words === '' ? undefined : readWantedWords(words);
  if (words !== '' && prompt === undefined) return NONE;
  const filter = { ...wanted, prompt, tokenId: tokenId === '' ? undefined : tokenId };
  const [step, counted] = await Promise.all([
    store.listStep(filter, page),
    countMax === 0 ? UNCOUNTED : store.countStep(filter, countMax),
  ]);
  return { ...step, counted };
}

/** The filter for the task of a create with this key. Undefined if no task matches. */
export async function withKey(
  { store, clock }: Deps,
  filter: OwnersFilter,
  key: string,
): Promise<OwnersFilter | undefined> {
  const taskId = (await store.findKey(filter.accountId, key, clock.now()))?.taskId;
  const { taskIds = [] } = filter;
  return taskId === undefined || (taskIds.length > 0 && !taskIds.includes(taskId))
    ? undefined
    : { ...filter, taskIds: [taskId] };
}

/** Refuses a list position that is unknown or belongs to another account. An empty `accountId` allows every account. */
export function assertPosition(
  found: { readonly accountId: string } | undefined,
  accountId: string,
  what: 'task' | 'job',
): void {
  if (found !== undefined && (accountId === '' || found.accountId === accountId)) return;
  const whose = accountId === '' ? '' : ' of this account';
  throw refuse('invalid_request', {
    field: 'after',
    message: `must be the id of a ${what}${whose}, such as the last id of the previous page`,
  });
}

interface Timeline {
  readonly task: Task;
  readonly entries: readonly TimelineEntry[];
}

/** The steps of a task, for its owner. For other accounts the task does not exist. */
export async function readTimeline(deps: StoreDeps, accountId: string, taskId: string): Promise<Timeline> {
  const task = await getTask(deps, accountId, taskId);
  const [attempts, events] = await Promise.all([deps.store.attempts(task.id), deps.store.events(task.id)]);
  return { task, entries: buildTimeline({ task, attempts, events }) };
}

/**
 * Returns the milliseconds until a caller should read the task again; zero if the task is finished, because it no
 * longer changes. A task that waits for a channel changes at its turn.
 */
export function pollAfterMs(
  { state, nextPollAt }: Task,
  now: number,
  place?: Pick<QueuePlace, 'estimatedStartAt'>,
): number {
  if (isTerminal(state)) return 0;
  if (place?.estimatedStartAt !== undefined)
    return Math.min(Math.max(POLL_AFTER_UNKNOWN_MS, timestampMs(place.estimatedStartAt) - now), POLL_AFTER_MS_MAX);
  if (nextPollAt === undefined || nextPollAt <= now) return POLL_AFTER_UNKNOWN_MS;
  return Math.max(POLL_AFTER_MS_MIN, nextPollAt - now);
}
