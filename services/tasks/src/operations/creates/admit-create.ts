import { isProblem } from '@reelgate/platform/problem';
import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import { TOTAL_SCOPE, tokenScope } from '../../domain/in-flight-scope.ts';
import { isVisible } from '../../domain/model.ts';
import { isUpstreamFile, listMedia } from '../../domain/order.ts';
import type { Order } from '../../domain/order.ts';
import { priceFacts } from '../../domain/price-facts.ts';
import type { PriceFacts } from '../../domain/price-facts.ts';
import { validateOrder, sourceFault } from '../../domain/rules/validate-order.ts';
import type { Task } from '../../domain/task.ts';
import { SCHEDULE_MS_MAX, planWait } from '../../domain/wait-plan.ts';
import type { WaitPlan } from '../../domain/wait-plan.ts';
import type { NewTask } from '../../store/task-store.ts';
import type { Deps } from '../deps.ts';
import {
  keyInUse,
  keyReused,
  modelNotFound,
  overloadRefusal,
  tooLateStart,
  taskNotFound,
  toRefusal,
  tooManyTasks,
} from '../task-refusals.ts';
import { assertWebhookUrl } from '../webhooks/webhook-refusals.ts';
import { chooseByExtra, listChoices } from './choose-extra.ts';
import type { CreateRequest, OrderCaller, ResolvedOrder } from '../create-context.ts';

/** Runs the checks before the first write: the order, its key, then the things that the order names. */
export async function admitCreate(
  deps: Deps,
  request: CreateRequest,
): Promise<{ readonly earlier: Task } | ResolvedOrder> {
  assertOrder(deps, request, request.order);
  assertWebhookUrl(deps.webhookAllow, request.beside.webhookUrl, 'webhook_url');
  if ((request.wait.notBefore ?? 0) > deps.clock.now() + SCHEDULE_MS_MAX) throw tooLateStart();
  const earlier = await findEarlier(deps, request);
  if (earlier !== undefined) return { earlier };
  if (deps.isOverloaded()) throw overloadRefusal();
  return resolveOrder(deps, request, request.order);
}

/** Refuses an order that is invalid by itself. Reads and writes no state. */
export function assertOrder({ models }: Deps, { visibleModels }: OrderCaller, order: Order): void {
  const fault = validateOrder(order, models(), visibleModels);
  if (fault !== undefined) throw toRefusal(fault);
}

/** Finds the task of an earlier call with the same key. */
export async function findEarlier(deps: Deps, { accountId, idempotency }: CreateRequest): Promise<Task | undefined> {
  if (idempotency === undefined) return undefined;
  const record = await deps.store.findKey(accountId, idempotency.key, deps.clock.now());
  if (record === undefined) return undefined;
  if (record.fingerprint !== idempotency.fingerprint) throw keyReused();
  const task = await deps.store.find(record.taskId);
  // The task was refused between the two reads, so its key is free again.
  if (task?.admission === 'refused') return undefined;
  if (task === undefined || task.admission === 'submitting') throw keyInUse();
  return task;
}

/**
 * Resolves the references of an order. Checks the model and its channels first, then the owner of the source, then its
 * fitness, then the fields that only an upstream knows.
 */
export async function resolveOrder(deps: Deps, caller: OrderCaller, order: Order): Promise<ResolvedOrder> {
  if (!isVisible(caller.visibleModels, order.model) || !deps.models().has(order.model))
    throw modelNotFound(order.model);
  const serving = deps.channels.listServing(order.kind, order.model);
  if (serving.length === 0) throw modelNotFound(order.model);

  const source =
    order.sourceTaskId === undefined ? undefined : await deps.store.findOwned(caller.accountId, order.sourceTaskId);
  if (order.sourceTaskId !== undefined && source === undefined) throw taskNotFound('source_task_id');
  const fault = source === undefined ? undefined : sourceFault(source);
  if (fault !== undefined) throw toRefusal(fault);

  const sameAccount = serving.filter(
    ({ channel }) => source === undefined || channel.settings.upstreamAccount === source.mapping?.upstreamAccount,
  );
  if (sameAccount.length === 0) {
    throw toRefusal({
      reason: 'source_task_unsupported',
      field: 'source_task_id',
      message: 'names a task whose generator is no longer available; send its video as content with a base_video item',
    });
  }
  const chosen = chooseByExtra(order, filterGrantedChannels(deps, caller, order, sameAccount));
  const choices = listChoices(chosen);
  return {
    source,
    ...chosen,
    facts: { ...priceFacts(order, source?.seconds), ...(choices.length > 0 && { choices }) },
  };
}

/** A file of an upstream account goes only to that account, and only if the operator has granted the client its use. */
function filterGrantedChannels(
  { grants }: Deps,
  { accountId }: OrderCaller,
  order: Order,
  runtimes: readonly ChannelRuntime[],
): readonly ChannelRuntime[] {
  if (!listMedia(order).some(isUpstreamFile)) return runtimes;
  const allowed = grants().get(accountId) ?? [];
  const left = runtimes.filter(({ channel }) => allowed.includes(channel.settings.upstreamAccount));
  if (left.length === 0)
    throw toRefusal({
      reason: 'invalid_media',
      field: 'content',
      message: 'names an upstream file (asset:// or mm_file://) that this account may not use; send a URL or the bytes',
    });
  return left;
}

/** Plans how a create waits if it must. Returns undefined if the queue is not enabled. */
export function planCreateWait(
  { queue: { limits } }: Deps,
  { wait, tokenWait }: Pick<CreateRequest, 'wait' | 'tokenWait'>,
  now: number,
): WaitPlan | undefined {
  return limits && planWait(wait, tokenWait, { longestWaitMs: limits.longestWaitMs, now });
}

/**
 * Lists the counters that a create takes, each with its limit. A maker comes after its descendants in every create, so
 * that creates never wait for each other in a circle.
 */
export function listCaps({ limits }: Deps, { tokenId, inFlightLimit, makers }: CreateRequest): NewTask['caps'] {
  return [
    ...[{ tokenId, inFlight: inFlightLimit }, ...makers].map((token) => ({
      scope: tokenScope(token.tokenId),
      limit: token.inFlight ?? limits.inFlightPerToken,
    })),
    { scope: TOTAL_SCOPE, limit: limits.inFlightTotal },
  ];
}

/**
 * Refuses a create for a full counter. A missing price comes first in the order of checks, so billing is asked here.
 */
export async function refuseCapped(
  deps: Deps,
  { accountId, makers }: CreateRequest,
  { facts, scope }: { readonly facts: PriceFacts; readonly scope: string },
  signal?: AbortSignal,
): Promise<never> {
  try {
    await deps.billing.quote(accountId, facts, signal);
  } catch (error) {
    if (isProblem(error, 'model_price_error')) throw error;
  }
  if (scope === TOTAL_SCOPE) throw tooManyTasks('service');
  throw tooManyTasks(makers.some(({ tokenId }) => tokenScope(tokenId) === scope) ? 'maker' : 'token');
}
