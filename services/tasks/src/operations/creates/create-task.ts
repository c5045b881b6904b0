import { Problem, isProblem } from '@reelgate/platform/problem';
import { CallEnded } from '@reelgate/platform/call-ended';
import { maybeBegun, nothingBegun } from '@reelgate/platform/service-unavailable';
import { TOTAL_SCOPE, tokenScope } from '../../domain/in-flight-scope.ts';
import type { Order } from '../../domain/order.ts';
import { priceFacts } from '../../domain/price-facts.ts';
import type { PriceFacts } from '../../domain/price-facts.ts';
import type { Failure, Task } from '../../domain/task.ts';
import type { NewTask } from '../../store/task-store.ts';
import { assertOrder } from './assert-order.ts';
import type { OrderCaller } from './assert-order.ts';
import type { Deps } from '../deps.ts';
import { KEY_LIFETIME_MS } from '../key-lifetime.ts';
import { keyInUse, keyReused, sourceGone, tooManyTasks } from '../task-refusals.ts';
import { resolveOrder } from './resolve-order.ts';
import type { ResolvedOrder } from './resolve-order.ts';
import { stageReferences } from '../staging/stage-references.ts';
import { stageSource } from '../staging/stage-source.ts';
import type { SourceMedia } from '../staging/stage-source.ts';
import { giveBack } from '../ends/settle-task.ts';
import { UncertainOutcome, assertOpenChannel, submitAttempts } from '../attempts/submit-attempts.ts';

export interface CreateRequest extends OrderCaller {
  readonly tokenId: string;
  readonly order: Order;
  readonly idempotency?: { readonly key: string; readonly fingerprint: string } | undefined;
  /** Tasks that the token may have in flight, where it has a number of its own. */
  readonly inFlightLimit?: number | undefined;
}

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
  const admitted = await admit(deps, request);
  if ('earlier' in admitted) return { task: admitted.earlier, replayed: true };
  const task = newTask(deps, request, admitted.facts);
  deps.creating.set(task.id, 'working');
  try {
    return await createOwn(deps, request, { task, ...admitted, signal });
  } finally {
    if (deps.creating.get(task.id) === 'working') deps.creating.delete(task.id);
  }
}

/**
 * Refuses an order as `createTask` would refuse it now, with the same checks in the same order, as far as they do not
 * need the bytes of the media. Returns the task that a replay would return. It changes nothing, so the create repeats
 * every check.
 */
export async function checkCreate(deps: Deps, request: CreateRequest): Promise<Task | undefined> {
  const admitted = await admit(deps, request);
  if ('earlier' in admitted) return admitted.earlier;
  const { accountId, tokenId } = request;
  const { facts, resolved } = admitted;
  if (await isCapped(deps, capsOf(deps, request))) return refuseCapped(deps, request, facts);
  await deps.billing.checkHold({ accountId, tokenId, facts });
  await assertOpenChannel(deps, resolved.runtimes);
  return undefined;
}

type Admitted = { readonly earlier: Task } | { readonly resolved: ResolvedOrder; readonly facts: PriceFacts };

/** Runs the checks before the first write: the order, its key, then the things that the order names. */
async function admit(deps: Deps, request: CreateRequest): Promise<Admitted> {
  assertOrder(deps, request, request.order);
  const earlier = await findEarlier(deps, request);
  if (earlier !== undefined) return { earlier };
  const resolved = await resolveOrder(deps, request, request.order);
  return { resolved, facts: priceFacts(request.order, resolved.source?.seconds) };
}

async function isCapped({ store }: Deps, caps: NewTask['caps']): Promise<boolean> {
  for (const { scope, limit } of caps) {
    if ((await store.inFlight(scope)) >= limit) return true;
  }
  return false;
}

interface Own {
  readonly task: NewTask;
  readonly resolved: ResolvedOrder;
  readonly facts: PriceFacts;
  readonly signal: AbortSignal | undefined;
}

async function createOwn(deps: Deps, request: CreateRequest, own: Own): Promise<Created> {
  const { task, facts, signal } = own;
  const begun = await begin(deps, task, signal);
  if (begun === 'key_taken') return afterLostRace(deps, request);
  if (begun !== 'begun') return refuseCapped(deps, request, facts);
  let created: Task | undefined;
  let isHeld = false;
  try {
    await deps.billing.placeHold({ taskId: task.id, accountId: task.accountId, tokenId: task.tokenId, facts });
    isHeld = true;
    created = await submit(deps, { ...own, signal: request.idempotency === undefined ? signal : undefined });
  } catch (error) {
    // What an upstream may have taken is never given up here: the sweep finds the row.
    if (error instanceof UncertainOutcome) throw error;
    await refuse(deps, task, { error, isHeld });
    throw nothingBegun(error);
  }
  // Another process may have decided over it meanwhile.
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

async function submit(deps: Deps, { task, resolved, facts, signal }: Own): Promise<Task | undefined> {
  signal?.throwIfAborted();
  const staged = await stageReferences(deps, task, resolved.order);
  const complete = priceFacts(resolved.order, resolved.source?.seconds, staged.probed);
  if (complete.seconds !== facts.seconds || complete.inputVideoSeconds !== facts.inputVideoSeconds)
    await deps.billing.extendHold(task.id, complete);
  if (complete.seconds !== facts.seconds) await deps.store.measure(task.id, complete.seconds);
  // Only a generation can be a source.
  if (resolved.order.kind === 'generation' && staged.byIndex.size > 0)
    await deps.store.keepStaged(task.id, Object.fromEntries(staged.byIndex));
  const { runtimes, source } = await withSourceMedia(deps, task, resolved);
  signal?.throwIfAborted();
  return submitAttempts(deps, task, { ...resolved, runtimes }, { byIndex: staged.byIndex, source });
}

/** Freezes the source's media where a channel is given them; where they are gone, only the channels that need none are left. */
async function withSourceMedia(
  deps: Deps,
  task: NewTask,
  { source, runtimes }: ResolvedOrder,
): Promise<Pick<ResolvedOrder, 'runtimes'> & { readonly source: SourceMedia | undefined }> {
  const byTask = runtimes.filter(({ channel }) => channel.settings.regeneration !== 'video');
  if (source === undefined || byTask.length === runtimes.length) return { runtimes, source: undefined };
  const media = await stageSource(deps, task, source);
  if (media === undefined && byTask.length === 0) throw sourceGone();
  return { runtimes: media === undefined ? byTask : runtimes, source: media };
}

/**
 * Hides a create that no upstream accepted, releases its hold and removes its staged media. The sweep does what fails
 * here.
 */
async function refuse(
  deps: Deps,
  task: NewTask,
  { error, isHeld }: { readonly error: unknown; readonly isHeld: boolean },
): Promise<void> {
  const { id: taskId } = task;
  const failure = failureOf(error);
  const refused = await deps.store.refuse(taskId, failure, deps.clock.now()).catch((fault: unknown) => {
    // While the database is away, only this process knows that no upstream accepted the order.
    deps.creating.set(taskId, 'given_up');
    throw nothingBegun(fault);
  });
  // Another process may have decided over it, and kept the task with its hold.
  if (!refused) return;
  try {
    // no media are staged before the hold; billing may have placed the hold although the call failed
    if (isHeld) await giveBack(deps, task);
    else await deps.billing.releaseHold(taskId);
    await deps.store.markSettled(taskId, deps.clock.now());
  } catch (failure) {
    deps.log.warn(
      { taskId, err: failure },
      'the hold and the media of a refused create could not be given back at once',
    );
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof CallEnded)
    return { code: 'caller_left', message: 'its caller no longer waited, and had no key to ask for it by' };
  const problem = error instanceof Problem ? error : undefined;
  return { code: problem?.reason ?? 'internal_error', message: problem?.message ?? 'a fault of the service' };
}

/** The earlier answer to the same call, if there was one. */
async function findEarlier(deps: Deps, { accountId, idempotency }: CreateRequest): Promise<Task | undefined> {
  if (idempotency === undefined) return undefined;
  const record = await deps.store.findKey(accountId, idempotency.key, deps.clock.now());
  if (record === undefined) return undefined;
  if (record.fingerprint !== idempotency.fingerprint) throw keyReused();
  const task = await deps.store.find(record.taskId);
  // It was refused between the two reads: its key is free again.
  if (task?.admission === 'refused') return undefined;
  if (task === undefined || task.admission === 'submitting') throw keyInUse();
  return task;
}

async function afterLostRace(deps: Deps, request: CreateRequest): Promise<Created> {
  const earlier = await findEarlier(deps, request);
  if (earlier === undefined) throw keyInUse();
  return { task: earlier, replayed: true };
}

/** A missing price is told before a full counter, so billing is asked for it here alone. */
async function refuseCapped(deps: Deps, { accountId }: CreateRequest, facts: PriceFacts): Promise<never> {
  try {
    await deps.billing.quote(accountId, facts);
  } catch (error) {
    if (isProblem(error, 'model_price_error')) throw error;
  }
  throw tooManyTasks();
}

function newTask(
  deps: Deps,
  { accountId, tokenId, order, idempotency, inFlightLimit }: CreateRequest,
  facts: PriceFacts,
): NewTask {
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
    caps: capsOf(deps, { tokenId, inFlightLimit }),
  };
}

function capsOf(
  { limits }: Deps,
  { tokenId, inFlightLimit }: Pick<CreateRequest, 'tokenId' | 'inFlightLimit'>,
): NewTask['caps'] {
  return [
    { scope: tokenScope(tokenId), limit: inFlightLimit ?? limits.inFlightPerToken },
    { scope: TOTAL_SCOPE, limit: limits.inFlightTotal },
  ];
}

async function mustFind(deps: Deps, taskId: string): Promise<Task> {
  const task = await deps.store.find(taskId).catch((error: unknown) => {
    throw maybeBegun(error);
  });
  if (task === undefined) throw new Error(`task ${taskId} was written and is not there`);
  return task;
}
