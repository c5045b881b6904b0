import { TOTAL_SCOPE } from '../../domain/in-flight-scope.ts';
import type { Task } from '../../domain/task.ts';
import type { NewTask } from '../../store/task-store.ts';
import { assertOpenChannel } from '../attempts/submit-attempts.ts';
import type { Deps } from '../deps.ts';
import { admitCreate, assertOrder, listCaps, planCreateWait, refuseCapped, resolveOrder } from './admit-create.ts';
import type { CreateRequest, OrderCaller } from '../create-context.ts';
import type { Quote } from '../../clients/billing.ts';
import type { Order } from '../../domain/order.ts';
import type { PriceFacts } from '../../domain/price-facts.ts';

/** The members of a create that its price depends on. */
export type EstimateRequest = OrderCaller & Pick<CreateRequest, 'order' | 'wait' | 'tokenWait'>;

/**
 * Refuses an order as `createTask` would refuse it now, with the same checks in the same order, as far as they do not
 * need the bytes of the media. Returns the task that a replay would return. It does not write, so the create repeats
 * every check.
 */
export async function checkCreate(deps: Deps, request: CreateRequest, signal?: AbortSignal): Promise<Task | undefined> {
  const admitted = await admitCreate(deps, request);
  if ('earlier' in admitted) return admitted.earlier;
  const { accountId, tokenId } = request;
  const { runtimes } = admitted;
  const plan = planCreateWait(deps, request, deps.clock.now());
  const facts = { ...admitted.facts, class: plan?.class };
  const { maxAmountNanos, currency } = request.beside;
  const isScheduled = plan?.notBefore !== undefined;
  const scope = isScheduled ? undefined : await findFull(deps, listCaps(deps, request));
  const isWaiting = scope !== undefined && scope !== TOTAL_SCOPE && plan?.waitsForOwnLimit === true;
  if (scope !== undefined && !isWaiting) return refuseCapped(deps, request, { facts, scope }, signal);
  await deps.billing.checkHold({ accountId, tokenId, facts, maxAmountNanos, currency }, signal);
  if (!isScheduled && !isWaiting)
    await assertOpenChannel(deps, runtimes, { accountId, waits: plan?.waitsForChannel === true });
  return undefined;
}

/** Returns the first counter that is full. */
async function findFull({ store }: Deps, caps: NewTask['caps']): Promise<string | undefined> {
  for (const { scope, limit } of caps) {
    if ((await store.inFlight(scope)) >= limit) return scope;
  }
  return undefined;
}

/**
 * Computes the cost of an order now, in the class in which it would wait. Reference videos are not probed, so their
 * seconds do not count.
 */
export async function estimateOrder(
  deps: Deps,
  request: EstimateRequest,
  signal?: AbortSignal,
): Promise<{ readonly quote: Quote; readonly facts: PriceFacts; readonly order: Order }> {
  const { accountId, order } = request;
  assertOrder(deps, request, order);
  const resolved = await resolveOrder(deps, request, order);
  const facts = { ...resolved.facts, class: planCreateWait(deps, request, deps.clock.now())?.class };
  return { quote: await deps.billing.quote(accountId, facts, signal), facts, order: resolved.order };
}
