import { listMedia } from '../order.ts';
import type { Task } from '../task.ts';

/** The steps in the order in which they begin if two of them begin at one time. */
const STEPS = [
  'created',
  'prepared',
  'submitted',
  'queued',
  'in_progress',
  'checked',
  'fetched',
  'completed',
  'failed',
] as const;

export type Step = (typeof STEPS)[number];

/** A part of the life of a task. It has no field for anything of the upstream. */
export interface TimelineEntry {
  readonly step: Step;
  readonly from: number;
  /** Undefined while it lasts. */
  readonly to?: number | undefined;
}

/** The stored facts of the life of a task. */
export interface TaskLife {
  readonly task: Task;
  readonly attempts: readonly {
    readonly outcome: string;
    readonly startedAt: number;
    readonly endedAt?: number | undefined;
  }[];
  /** The oldest first. */
  readonly events: readonly { readonly at: number; readonly type: string; readonly detailJson: string }[];
}

/** The time at which each phase began; undefined if it was not observed. */
interface PhaseStarts {
  readonly submittedAt: number | undefined;
  readonly acceptedAt: number | undefined;
  readonly workingAt: number | undefined;
  readonly fetchedAt: number | undefined;
}

/**
 * The steps of a task as its owner may see them. However many attempts and channels there were, they are one step. If
 * no poll saw the work of a completed task, the time in the queue counts as work, as it does in the metrics.
 */
export function buildTimeline({ task: { finishedAt, ...task }, ...past }: TaskLife): readonly TimelineEntry[] {
  const { createdAt } = task;
  const endedAt = finishedAt === undefined ? undefined : Math.max(createdAt, finishedAt);
  const life = { task: { ...task, finishedAt: endedAt }, ...past };
  const phases = findPhaseStarts(life);
  return [
    { step: 'created', from: createdAt, to: createdAt } as const,
    ...buildSubmissionEntries(life, phases),
    ...buildWorkEntries(life, phases),
    ...buildCheckEntries(life),
    ...buildEndEntries(life),
  ].sort((one, other) => one.from - other.from || STEPS.indexOf(one.step) - STEPS.indexOf(other.step));
}

/** The clocks of two processes may differ, so no phase begins before the one before it, or after the end. */
function findPhaseStarts({ task, attempts, events }: TaskLife): PhaseStarts {
  let reached = task.createdAt;
  const until = task.finishedAt ?? Infinity;
  const next = (at: number | undefined): number | undefined => {
    if (at === undefined) return undefined;
    reached = Math.min(Math.max(reached, at), until);
    return reached;
  };
  const submittedAt = next(attempts[0]?.startedAt);
  const acceptedAt = next(
    attempts.find(({ outcome }) => outcome === 'accepted')?.endedAt ??
      events.find(({ type }) => type === 'adopted')?.at,
  );
  const seenAt = events.find(
    ({ type, detailJson }) => type === 'reported' && parseState(detailJson) === 'in_progress',
  )?.at;
  const workingAt = acceptedAt === undefined ? undefined : next(seenAt ?? inferWorkStart(task, acceptedAt));
  return { submittedAt, acceptedAt, workingAt, fetchedAt: next(findFetchStart(task, events)) };
}

function inferWorkStart({ state }: TaskLife['task'], acceptedAt: number): number | undefined {
  return state === 'completed' ? acceptedAt : undefined;
}

/** A result that was not fetched, such as a prompt, has no fetch. */
function findFetchStart(task: Task, events: TaskLife['events']): number | undefined {
  const tookMs = events
    .filter(({ type }) => type === 'completed')
    .map(({ detailJson }) => parseDetail(detailJson)['fetch_ms'])
    .find((ms) => typeof ms === 'number');
  return task.finishedAt === undefined || tookMs === undefined ? undefined : task.finishedAt - tookMs;
}

function buildSubmissionEntries(
  { task }: TaskLife,
  { submittedAt, acceptedAt }: PhaseStarts,
): readonly TimelineEntry[] {
  if (submittedAt === undefined) return [];
  const isPrepared = submittedAt > task.createdAt && (listMedia(task.order).length > 0 || hasSource(task));
  return [
    ...(isPrepared ? [{ step: 'prepared', from: task.createdAt, to: submittedAt } as const] : []),
    { step: 'submitted', from: submittedAt, to: acceptedAt ?? task.finishedAt },
  ];
}

function hasSource({ order }: TaskLife['task']): boolean {
  return order.sourceTaskId !== undefined;
}

function buildWorkEntries(
  { task }: TaskLife,
  { acceptedAt, workingAt, fetchedAt }: PhaseStarts,
): readonly TimelineEntry[] {
  if (acceptedAt === undefined) return [];
  const endedAt = fetchedAt ?? task.finishedAt;
  return [
    ...(workingAt === acceptedAt ? [] : [{ step: 'queued', from: acceptedAt, to: workingAt ?? endedAt } as const]),
    ...(workingAt === undefined ? [] : [{ step: 'in_progress', from: workingAt, to: endedAt } as const]),
    ...(fetchedAt === undefined ? [] : [{ step: 'fetched', from: fetchedAt, to: task.finishedAt } as const]),
  ];
}

/** A person who is asked after the end decides only over money. */
function buildCheckEntries({ task, events }: TaskLife): readonly TimelineEntry[] {
  const entries: TimelineEntry[] = [];
  for (const { at, type } of events) {
    const last = entries.at(-1);
    const isOpen = last !== undefined && last.to === undefined;
    if (type === 'attention' && !isOpen && at < (task.finishedAt ?? Infinity))
      entries.push({ step: 'checked', from: Math.max(at, task.createdAt) });
    if (type === 'attention_resolved' && isOpen)
      entries[entries.length - 1] = { ...last, to: Math.min(Math.max(last.from, at), task.finishedAt ?? Infinity) };
  }
  return entries;
}

function buildEndEntries({ task: { state, finishedAt: at } }: TaskLife): readonly TimelineEntry[] {
  return at === undefined || (state !== 'completed' && state !== 'failed') ? [] : [{ step: state, from: at, to: at }];
}

function parseState(detailJson: string): unknown {
  return parseDetail(detailJson)['state'];
}

function parseDetail(detailJson: string): Readonly<Record<string, unknown>> {
  return JSON.parse(detailJson) as Readonly<Record<string, unknown>>;
}
