import { Problem, isProblem, CallEnded } from '@reelgate/platform/problem';
import { Overtaken, maybeBegun, nothingBegun } from '@reelgate/platform/service-unavailable';
import { NO_SPAN, inSpan } from '@reelgate/platform/trace/trace';
import { removeAnnotations, takeAnnotations } from '../../domain/annotations.ts';
import { TOTAL_SCOPE, isChannelScope } from '../../domain/in-flight-scope.ts';
import { QUEUE_CLASSES, isBetterClass } from '../../domain/lane.ts';
import type { EveryMember } from '../../domain/every-member.ts';
import { listMedia } from '../../domain/order.ts';
import { priceFacts } from '../../domain/price-facts.ts';
import type { Failure, Task } from '../../domain/task.ts';
import { listApplied } from '../../domain/wait-plan.ts';
import type { PlacedHold } from '../../clients/billing.ts';
import type { BeginResult, NewTask } from '../../store/task-store.ts';
import { UncertainOutcome } from '../attempts/record-outcome.ts';
import { findObstacle, findSpentPace, submitAttempts } from '../attempts/submit-attempts.ts';
import type { Deps } from '../deps.ts';
import { releaseRefused } from '../ends/end-task.ts';
import { nameCreateLane } from '../queue/lane-channels.ts';
import { UncertainWait, waitForChannel } from '../queue/wait-for-channel.ts';
import { keyInUse, noChannel, sourceGone, throttleRefusal } from '../task-refusals.ts';
import { writeTaskSpan } from '../tracing/lifetime-span.ts';
import { admitCreate, findEarlier, listCaps, planCreateWait, refuseCapped } from './admit-create.ts';
import type { CreateContext, CreateRequest, CreateResult, ResolvedOrder, SourceMedia } from '../create-context.ts';
import { KEY_LIFETIME_MS } from './idempotency.ts';
import { NO_MEDIA, stageReferences, stageSource } from './stage-media.ts';

/** For a create that does not wait, while others do. */
const BEHIND_OTHERS_RETRY_MS = 5000;
const BEGIN = { attributes: { 'db.operation.name': 'INSERT', 'db.collection.name': 'tasks' } };

/**
 * Accepts an order, or refuses it. Each step is durable before the next leaves the process: the task and its key, then
 * the hold. Each attempt is durable as `started` before it is submitted: the first one with its task, if no media must
 * be staged before it. If the process dies in between, the next start finds the row. If the caller leaves before the
 * task is durable, the task does not stay. If it leaves later, the create finishes, and a repeat with the key returns
 * its answer. Without a key no caller could retrieve the answer, so the create is given up as long as its order is not
 * submitted.
 */
export async function createTask(deps: Deps, request: CreateRequest, signal?: AbortSignal): Promise<CreateResult> {
  const admitted = await admitCreate(deps, request);
  if ('earlier' in admitted) return answerReplay(request, admitted.earlier);
  const create = newCreateContext(deps, request, admitted, signal);
  const { id: taskId } = create.task;
  deps.creating.set(taskId, 'working');
  try {
    const begun = await beginTask(deps, create);
    if (begun === 'key_taken') return await replayAfterRace(deps, request);
    if ('capped' in begun) return await refuseCapped(deps, request, { ...create, scope: begun.capped }, signal);
    const task = await holdStageAndSubmit(deps, begun);
    const applied = listApplied(request.wait, create.wait);
    return { task: task ?? (await findDecided(deps, taskId)), replayed: false, applied };
  } finally {
    if (deps.creating.get(taskId) === 'working') deps.creating.delete(taskId);
  }
}

/** Answers a repeated create. Its trace is linked to the trace of the task. */
function answerReplay({ span }: CreateRequest, earlier: Task): CreateResult {
  span?.set({ 'reelgate.task.id': earlier.id });
  span?.link(earlier.trace);
  return { task: earlier, replayed: true, applied: {} };
}

async function replayAfterRace(deps: Deps, request: CreateRequest): Promise<CreateResult> {
  const earlier = await findEarlier(deps, request);
  if (earlier === undefined) throw keyInUse();
  return answerReplay(request, earlier);
}

function newCreateContext(
  deps: Deps,
  request: CreateRequest,
  resolved: ResolvedOrder,
  signal: AbortSignal | undefined,
): CreateContext {
  const { accountId, tokenId, idempotency, beside, requestId, span = NO_SPAN } = request;
  const createdAt = deps.clock.now();
  const trace = deps.tracing.mint(span);
  const caps = listCaps(deps, request);
  const wait = planCreateWait(deps, request, createdAt);
  const { webhookUrl, ...bound } = removeAnnotations(beside);
  const task: EveryMember<Omit<NewTask, 'attempt'>> = {
    webhookUrl,
    ...takeAnnotations(beside),
    id: deps.newId('task'),
    accountId,
    tokenId,
    order: resolved.order,
    createdAt,
    requestId,
    owner: deps.processId,
    seconds: resolved.facts.seconds,
    idempotency: idempotency && {
      key: idempotency.key,
      fingerprint: idempotency.fingerprint,
      expiresAt: createdAt + (idempotency.lifetimeMs ?? KEY_LIFETIME_MS),
    },
    caps: wait?.notBefore === undefined ? caps : [],
    trace,
    traceParent: trace === undefined ? undefined : span.carrier,
  };
  span.set({ 'reelgate.task.id': task.id, 'reelgate.account.id': accountId });
  const facts = { ...resolved.facts, class: wait?.class };
  return { ...resolved, facts, task, media: NO_MEDIA, signal, span, bound, wait, caps };
}

/**
 * Writes the task. If only its hold stands before the submission, the first attempt starts with it, in the same
 * transaction: a submission needs the hold, so a recovery that finds no hold knows that it was not sent. A failing
 * database may still have written the row. Then the sweep refuses it, because it has no hold.
 */
async function beginTask(deps: Deps, create: CreateContext): Promise<CreateContext | Exclude<BeginResult, 'begun'>> {
  const attempt = chooseFirstAttempt(deps, create);
  let task: NewTask = { ...create.task, attempt };
  let begun = await writeTask(deps, create, task);
  if (attempt !== undefined && typeof begun === 'object' && isChannelScope(begun.capped)) {
    // A refusal for a full channel comes after one for the hold.
    task = create.task;
    begun = await writeTask(deps, create, task);
  }
  if (typeof begun === 'object' && begun.capped !== TOTAL_SCOPE && create.wait?.waitsForOwnLimit === true) {
    task = { ...create.task, caps: [] };
    begun = await writeTask(deps, create, task);
  }
  if (begun !== 'begun') return begun;
  const { id: taskId, accountId, order, idempotency } = task;
  deps.log.info({ taskId, accountId, kind: order.kind, model: order.model }, 'a task was created');
  return { ...create, task, signal: idempotency === undefined ? create.signal : undefined };
}

/**
 * Chooses the first channel, unless media must be staged before it, the channel takes no submission now, or others wait
 * for it.
 */
function chooseFirstAttempt(deps: Deps, create: CreateContext): NewTask['attempt'] {
  const { task, source, runtimes } = create;
  const [first] = runtimes;
  if (first === undefined || source !== undefined || listMedia(task.order).length > 0) return undefined;
  if (findObstacle(first, task.accountId) !== undefined || mustWait(create) || isBehindOthers(deps, create))
    return undefined;
  if (create.wait?.waitsForChannel === true && findSpentPace(first) !== undefined) return undefined;
  const { id: channel, inFlightMax } = first.channel.settings;
  const { accountId } = task;
  return { channel, inFlightMax, ofAccount: { accountId, inFlightMax: first.places.shareOf(accountId) } };
}

async function writeTask({ store }: Deps, { signal, span }: CreateContext, task: NewTask): Promise<BeginResult> {
  try {
    return await inSpan(span, 'tasks begin', BEGIN, () => store.begin(task, signal));
  } catch (error) {
    throw nothingBegun(error);
  }
}

/** Returns the task as its submission left it; undefined if another process has decided over it. */
async function holdStageAndSubmit(deps: Deps, create: CreateContext): Promise<Task | undefined> {
  let step: 'hold' | 'stage' | 'submit' = 'hold';
  try {
    const { contract } = await placeHold(deps, create);
    step = 'stage';
    const staged = await stageMedia(deps, create, contract);
    step = 'submit';
    return await submitOrWait(deps, staged);
  } catch (error) {
    // What an upstream may have accepted is never refused here. The sweep finds the row.
    if (error instanceof UncertainOutcome) throw error;
    if (step === 'submit' && error instanceof Problem) deps.count.refused();
    const isRefused = await refuseCreate(deps, create, { error, isHeld: step !== 'hold' });
    if (!(error instanceof UncertainWait)) throw nothingBegun(error);
    if (isRefused) throw nothingBegun(error.cause);
    // It waits, or another process has decided over it.
    return undefined;
  }
}

/** Submits the order, unless others wait for its channels. If no channel takes it now, it waits too. */
async function submitOrWait(deps: Deps, create: CreateContext): Promise<Task | undefined> {
  const { limits } = deps.queue;
  const plan = create.wait;
  // the queue was switched off meanwhile
  if (limits === undefined && mustWait(create)) throw noChannel();
  if (limits === undefined || plan === undefined) return submitAttempts(deps, create);
  // a create that started its first attempt with it was behind no other
  const isBehind = create.task.attempt === undefined && isBehindOthers(deps, create);
  if (!plan.waitsForChannel) {
    if (isBehind) throw throttleRefusal(BEHIND_OTHERS_RETRY_MS);
    return submitAttempts(deps, create);
  }
  const wait = (): Promise<Task | undefined> => waitForChannel(deps, create, plan, limits);
  return isBehind || mustWait(create) ? wait() : submitAttempts(deps, create, wait);
}

/** Reports whether the task of a create has no turn now even if a channel is open: it takes no counters. */
function mustWait({ task, caps, wait }: CreateContext): boolean {
  return wait !== undefined && task.caps.length < caps.length;
}

/** Reports whether tasks of its class, or of a better one, wait for the channels of a create. It does not overtake them. */
function isBehindOthers(deps: Deps, create: CreateContext): boolean {
  const { lanes } = deps.queue;
  const { wait } = create;
  if (lanes.size === 0 || wait === undefined) return false;
  return QUEUE_CLASSES.some(
    (ofClass) => !isBetterClass(wait.class, ofClass) && lanes.has(nameCreateLane(deps, create, ofClass)),
  );
}

/** A new task has a void instead of a hold only if another process has taken its create over. */
async function placeHold({ billing }: Deps, { task, facts, bound, signal, span }: CreateContext): Promise<PlacedHold> {
  const { id: taskId, accountId, tokenId, label } = task;
  try {
    return await billing.placeHold({ taskId, accountId, tokenId, facts, label, ...bound }, { signal, span });
  } catch (error) {
    throw isProblem(error, 'hold_voided') ? new Overtaken(`the create of ${taskId} was taken over`) : error;
  }
}

/**
 * Stages the media of the order and of its source, and extends the hold to their measured length, under the contract
 * that it was placed under.
 */
async function stageMedia(deps: Deps, create: CreateContext, contract: string): Promise<CreateContext> {
  const { store, billing } = deps;
  const { task, source, facts, signal, span } = create;
  signal?.throwIfAborted();
  const { byIndex, probed } = await stageReferences(deps.media, task, { signal, span });
  const measured = priceFacts(task.order, source?.seconds, probed);
  if (measured.seconds !== facts.seconds || measured.inputVideoSeconds !== facts.inputVideoSeconds)
    await billing.extendHold(task.id, { ...measured, priceKey: contract }, { signal, span });
  if (measured.seconds !== facts.seconds) await store.measure(task.id, measured.seconds);
  // Only a generation can be a source.
  if (task.order.kind === 'generation' && byIndex.size > 0)
    await store.keepStaged(task.id, Object.fromEntries(byIndex));
  const { runtimes, sourceMedia } = await stageSourceMedia(deps, create);
  signal?.throwIfAborted();
  return { ...create, runtimes, task: { ...task, seconds: measured.seconds }, media: { byIndex, source: sourceMedia } };
}

/**
 * Stages the media of the source for the channels that need them. If they are gone, only the other channels are left.
 */
async function stageSourceMedia(
  { media }: Deps,
  { task, source, runtimes, signal, span }: CreateContext,
): Promise<{ readonly runtimes: CreateContext['runtimes']; readonly sourceMedia: SourceMedia | undefined }> {
  const byTask = runtimes.filter(({ channel }) => channel.settings.regeneration !== 'video');
  if (source === undefined || byTask.length === runtimes.length) return { runtimes, sourceMedia: undefined };
  const sourceMedia = await stageSource(media, task, source, { signal, span });
  if (sourceMedia === undefined && byTask.length === 0) throw sourceGone();
  return { runtimes: sourceMedia === undefined ? byTask : runtimes, sourceMedia };
}

/**
 * Hides a create that no upstream accepted, releases its hold and removes its staged media. The sweep repeats any step
 * that fails here. Returns false if the task was kept: it waits, or another process has decided over it.
 */
async function refuseCreate(
  deps: Deps,
  { task, span }: CreateContext,
  { error, isHeld }: { readonly error: unknown; readonly isHeld: boolean },
): Promise<boolean> {
  const { id: taskId } = task;
  const failure = toFailure(error);
  const at = deps.clock.now();
  const refused = await deps.store.refuse(taskId, failure, at).catch((fault: unknown) => {
    // While the database is away, only this process knows that no upstream accepted the order.
    deps.creating.set(taskId, 'given_up');
    throw error instanceof UncertainWait ? maybeBegun(fault) : nothingBegun(fault);
  });
  if (!refused) return false;
  deps.log.info({ taskId, code: failure.code }, 'a create was refused');
  await writeTaskSpan(deps, task, { state: 'failed', at, code: failure.code });
  try {
    // No media are staged before the hold. Billing may have placed the hold although the call failed.
    if (isHeld) await releaseRefused(deps, task, span);
    else await deps.billing.releaseHold(taskId, { span });
    await deps.store.markSettled([taskId], deps.clock.now());
  } catch (failed) {
    deps.log.warn({ taskId, err: failed }, 'the hold and the media of a refused create could not be released yet');
  }
  return true;
}

function toFailure(error: unknown): Failure {
  if (error instanceof CallEnded)
    return { code: 'caller_left', message: 'the caller disconnected and had sent no Idempotency-Key' };
  const problem = error instanceof Problem ? error : undefined;
  return { code: problem?.reason ?? 'internal_error', message: problem?.message ?? 'internal error' };
}

/** Returns a task over which another process has decided. One that it has refused was never sent. */
async function findDecided(deps: Deps, taskId: string): Promise<Task> {
  const task = await mustFind(deps, taskId);
  if (task.admission === 'refused') throw nothingBegun(new Overtaken(`the create of ${taskId} was taken over`));
  return task;
}

async function mustFind({ store }: Deps, taskId: string): Promise<Task> {
  const task = await store.find(taskId).catch((error: unknown) => {
    throw maybeBegun(error);
  });
  if (task === undefined) throw new Error(`task ${taskId} was written and is not there`);
  return task;
}
