import { isProblem } from '@reelgate/platform/problem';
import { Overtaken, maybeBegun, nothingBegun } from '@reelgate/platform/service-unavailable';
import { NO_SPAN } from '@reelgate/platform/trace/trace-none';
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
import { admitCreate, listCaps, findEarlier, refuseCapped } from './admit-create.ts';
import type { CreateRequest } from './admit-create.ts';
import { beginCreate } from './begin-create.ts';
import type { BeginContext } from './begin-create.ts';
import { refuseCreate } from './refuse-create.ts';
import type { ResolvedOrder } from './resolve-order.ts';

export interface CreateResult {
  /** As it was when it was created. */
  readonly task: Task;
  readonly replayed: boolean;
}

/**
 * Accepts an order, or refuses it. Each step is durable before the next leaves the process: the task and its key, then
 * the hold. Each attempt is durable as `started` before it is submitted: the first one with its task, if no media must
 * be staged before it. If the process dies in between, the next start finds the row. If the caller leaves before the
 * task is durable, nothing stays. If it leaves later, the create finishes, and a repeat with the key returns its
 * answer. Without a key no caller could retrieve the answer, so the create is given up as long as its order is not
 * submitted.
 */
export async function createTask(deps: Deps, request: CreateRequest, signal?: AbortSignal): Promise<CreateResult> {
  const admitted = await admitCreate(deps, request);
  if ('earlier' in admitted) return answerReplay(admitted.earlier, request);
  const { span = NO_SPAN } = request;
  const task = newTask(deps, request, admitted.facts);
  span.set({ 'reelgate.task.id': task.id, 'reelgate.account.id': task.accountId });
  deps.creating.set(task.id, 'working');
  try {
    return await createNew(deps, request, { task, ...admitted, signal, span });
  } finally {
    if (deps.creating.get(task.id) === 'working') deps.creating.delete(task.id);
  }
}

interface CreateContext extends BeginContext {
  readonly facts: PriceFacts;
}

async function createNew(deps: Deps, request: CreateRequest, create: CreateContext): Promise<CreateResult> {
  const { facts, signal, span } = create;
  const { begun, task } = await beginCreate(deps, create);
  if (begun === 'key_taken') return replayAfterRace(deps, request);
  if (begun !== 'begun') return refuseCapped(deps, request, { facts, scope: begun.capped }, signal);
  const { accountId, order } = task;
  deps.log.info({ taskId: task.id, accountId, kind: order.kind, model: order.model }, 'a task was created');
  const bounds = request.idempotency === undefined ? signal : undefined;
  let created: Task | undefined;
  let isHeld = false;
  try {
    await placeHold(deps, { taskId: task.id, accountId, tokenId: task.tokenId, facts }, { signal: bounds, span });
    isHeld = true;
    created = await stageAndSubmit(deps, { ...create, task, signal: bounds });
  } catch (error) {
    // What an upstream may have accepted is never refused here. The sweep finds the row.
    if (error instanceof UncertainOutcome) throw error;
    await refuseCreate(deps, task, { error, isHeld, span });
    throw nothingBegun(error);
  }
  // Another process may have decided over the task in the meantime.
  return { task: created ?? (await mustFind(deps, task.id)), replayed: false };
}

/** A new task has a void instead of a hold only if another process has taken its create over. */
async function placeHold({ billing }: Deps, ...call: Parameters<Deps['billing']['placeHold']>): Promise<void> {
  try {
    await billing.placeHold(...call);
  } catch (error) {
    throw isProblem(error, 'hold_voided') ? new Overtaken(`the create of ${call[0].taskId} was taken over`) : error;
  }
}

async function stageAndSubmit(deps: Deps, create: CreateContext): Promise<Task | undefined> {
  const { task, resolved, facts, signal, span } = create;
  signal?.throwIfAborted();
  const staged = await stageReferences(deps, task, resolved.order, { signal, span });
  const complete = priceFacts(resolved.order, resolved.source?.seconds, staged.probed);
  if (complete.seconds !== facts.seconds || complete.inputVideoSeconds !== facts.inputVideoSeconds)
    await deps.billing.extendHold(task.id, complete, { signal, span });
  if (complete.seconds !== facts.seconds) await deps.store.measure(task.id, complete.seconds);
  // Only a generation can be a source.
  if (resolved.order.kind === 'generation' && staged.byIndex.size > 0)
    await deps.store.keepStaged(task.id, Object.fromEntries(staged.byIndex));
  const { runtimes, source } = await stageSourceMedia(deps, create);
  signal?.throwIfAborted();
  const media = { byIndex: staged.byIndex, source };
  const inputs = { resolved: { ...resolved, runtimes }, staged: media, span };
  return submitAttempts(deps, { ...task, seconds: complete.seconds }, inputs);
}

/**
 * Stages the media of the source for the channels that need them. If they are gone, only the other channels are left.
 */
async function stageSourceMedia(
  deps: Deps,
  { task, resolved: { source, runtimes }, signal, span }: CreateContext,
): Promise<Pick<ResolvedOrder, 'runtimes'> & { readonly source: SourceMedia | undefined }> {
  const byTask = runtimes.filter(({ channel }) => channel.settings.regeneration !== 'video');
  if (source === undefined || byTask.length === runtimes.length) return { runtimes, source: undefined };
  const media = await stageSource(deps, task, source, { signal, span });
  if (media === undefined && byTask.length === 0) throw sourceGone();
  return { runtimes: media === undefined ? byTask : runtimes, source: media };
}

async function replayAfterRace(deps: Deps, request: CreateRequest): Promise<CreateResult> {
  const earlier = await findEarlier(deps, request);
  if (earlier === undefined) throw keyInUse();
  return answerReplay(earlier, request);
}

/** The answer of a repeated create. Its trace is linked to that of the task. */
function answerReplay(earlier: Task, { span }: CreateRequest): CreateResult {
  span?.set({ 'reelgate.task.id': earlier.id });
  span?.link(earlier.trace);
  return { task: earlier, replayed: true };
}

function newTask(deps: Deps, request: CreateRequest, facts: PriceFacts): NewTask {
  const { accountId, tokenId, order, idempotency, requestId, webhookUrl, span = NO_SPAN } = request;
  const createdAt = deps.clock.now();
  const trace = deps.tracing.mint(span);
  return {
    id: deps.newId('task'),
    accountId,
    tokenId,
    order,
    createdAt,
    requestId,
    owner: deps.processId,
    seconds: facts.seconds,
    idempotency: idempotency === undefined ? undefined : { ...idempotency, expiresAt: createdAt + KEY_LIFETIME_MS },
    caps: listCaps(deps, request),
    trace,
    traceParent: trace === undefined ? undefined : span.carrier,
    webhookUrl,
  };
}

async function mustFind(deps: Deps, taskId: string): Promise<Task> {
  const task = await deps.store.find(taskId).catch((error: unknown) => {
    throw maybeBegun(error);
  });
  if (task === undefined) throw new Error(`task ${taskId} was written and is not there`);
  return task;
}
