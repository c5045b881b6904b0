import { maybeBegun, nothingBegun } from '@reelgate/platform/service-unavailable';
import { priceFacts } from '../../domain/price-facts.ts';
import type { PriceFacts } from '../../domain/price-facts.ts';
import type { Task } from '../../domain/task.ts';
import type { NewTask } from '../../store/task-store.ts';
import { UncertainOutcome } from '../attempts/record-outcome.ts';
import { submitAttempts } from '../attempts/submit-attempts.ts';
import type { Deps } from '../deps.ts';
import { KEY_LIFETIME_MS } from '../key-lifetime.ts';
import { stageReferences } from '../staging/stage-references.ts';
import { stageSource } from '../staging/stage-source.ts';
import type { SourceMedia } from '../staging/stage-source.ts';
import { keyInUse, sourceGone } from '../task-refusals.ts';
import { admitCreate, capsOf, findEarlier, refuseCapped } from './admit-create.ts';
import type { CreateRequest } from './admit-create.ts';
import { refuseCreate } from './refuse-create.ts';
import type { ResolvedOrder } from './resolve-order.ts';

export interface Created {
  /** As it was when it was created. */
  readonly task: Task;
  readonly replayed: boolean;
}

/**
 * Accepts an order, or refuses it. Each step is durable before the next leaves the process: the task and its key, then
 * the hold, then each attempt as `started`. If the process dies in between, the next start finds the row. If the caller
 * leaves before the task is durable, nothing stays. If it leaves later, the create finishes, and a repeat with the key
 * returns its answer. Without a key no caller could retrieve the answer, so the create is given up as long as its order
 * is not submitted.
 */
export async function createTask(deps: Deps, request: CreateRequest, signal?: AbortSignal): Promise<Created> {
  const admitted = await admitCreate(deps, request);
  if ('earlier' in admitted) return { task: admitted.earlier, replayed: true };
  const task = newTask(deps, request, admitted.facts);
  deps.creating.set(task.id, 'working');
  try {
    return await createNew(deps, request, { task, ...admitted, signal });
  } finally {
    if (deps.creating.get(task.id) === 'working') deps.creating.delete(task.id);
  }
}

interface NewCreate {
  readonly task: NewTask;
  readonly resolved: ResolvedOrder;
  readonly facts: PriceFacts;
  readonly signal: AbortSignal | undefined;
}

async function createNew(deps: Deps, request: CreateRequest, create: NewCreate): Promise<Created> {
  const { task, facts, signal } = create;
  const begun = await begin(deps, task, signal);
  if (begun === 'key_taken') return replayAfterRace(deps, request);
  if (begun !== 'begun') return refuseCapped(deps, request, facts, signal);
  const bounds = request.idempotency === undefined ? signal : undefined;
  let created: Task | undefined;
  let isHeld = false;
  try {
    await deps.billing.placeHold({ taskId: task.id, accountId: task.accountId, tokenId: task.tokenId, facts }, bounds);
    isHeld = true;
    created = await submit(deps, { ...create, signal: bounds });
  } catch (error) {
    // What an upstream may have accepted is never refused here. The sweep finds the row.
    if (error instanceof UncertainOutcome) throw error;
    await refuseCreate(deps, task, { error, isHeld });
    throw nothingBegun(error);
  }
  // Another process may have decided over the task in the meantime.
  return { task: created ?? (await mustFind(deps, task.id)), replayed: false };
}

/** A failing database may still have written the row. The row has no attempt, so the sweep refuses it. */
async function begin(
  { store }: Deps,
  task: NewTask,
  signal: AbortSignal | undefined,
): ReturnType<Deps['store']['begin']> {
  try {
    return await store.begin(task, signal);
  } catch (error) {
    throw nothingBegun(error);
  }
}

async function submit(deps: Deps, { task, resolved, facts, signal }: NewCreate): Promise<Task | undefined> {
  signal?.throwIfAborted();
  const staged = await stageReferences(deps, task, resolved.order, signal);
  const complete = priceFacts(resolved.order, resolved.source?.seconds, staged.probed);
  if (complete.seconds !== facts.seconds || complete.inputVideoSeconds !== facts.inputVideoSeconds)
    await deps.billing.extendHold(task.id, complete, signal);
  if (complete.seconds !== facts.seconds) await deps.store.measure(task.id, complete.seconds);
  // Only a generation can be a source.
  if (resolved.order.kind === 'generation' && staged.byIndex.size > 0)
    await deps.store.keepStaged(task.id, Object.fromEntries(staged.byIndex));
  const { runtimes, source } = await withSourceMedia(deps, task, resolved, signal);
  signal?.throwIfAborted();
  return submitAttempts(deps, task, { ...resolved, runtimes }, { byIndex: staged.byIndex, source });
}

/**
 * Stages the media of the source for the channels that need them. If they are gone, only the other channels are left.
 */
async function withSourceMedia(
  deps: Deps,
  task: NewTask,
  { source, runtimes }: ResolvedOrder,
  signal: AbortSignal | undefined,
): Promise<Pick<ResolvedOrder, 'runtimes'> & { readonly source: SourceMedia | undefined }> {
  const byTask = runtimes.filter(({ channel }) => channel.settings.regeneration !== 'video');
  if (source === undefined || byTask.length === runtimes.length) return { runtimes, source: undefined };
  const media = await stageSource(deps, task, source, signal);
  if (media === undefined && byTask.length === 0) throw sourceGone();
  return { runtimes: media === undefined ? byTask : runtimes, source: media };
}

async function replayAfterRace(deps: Deps, request: CreateRequest): Promise<Created> {
  const earlier = await findEarlier(deps, request);
  if (earlier === undefined) throw keyInUse();
  return { task: earlier, replayed: true };
}

function newTask(deps: Deps, request: CreateRequest, facts: PriceFacts): NewTask {
  const { accountId, tokenId, order, idempotency } = request;
  const createdAt = deps.clock.now();
  return {
    id: deps.newId('task'),
    accountId,
    tokenId,
    order,
    createdAt,
    owner: deps.processId,
    seconds: facts.seconds,
    idempotency: idempotency === undefined ? undefined : { ...idempotency, expiresAt: createdAt + KEY_LIFETIME_MS },
    caps: capsOf(deps, request),
  };
}

async function mustFind(deps: Deps, taskId: string): Promise<Task> {
  const task = await deps.store.find(taskId).catch((error: unknown) => {
    throw maybeBegun(error);
  });
  if (task === undefined) throw new Error(`task ${taskId} was written and is not there`);
  return task;
}
