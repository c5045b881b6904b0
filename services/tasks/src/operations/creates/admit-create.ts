import { isProblem } from '@reelgate/platform/problem';
import type { Span } from '@reelgate/platform/trace/trace';
import { TOTAL_SCOPE, tokenScope } from '../../domain/in-flight-scope.ts';
import type { Order } from '../../domain/order.ts';
import { priceFacts } from '../../domain/price-facts.ts';
import type { PriceFacts } from '../../domain/price-facts.ts';
import type { Task } from '../../domain/task.ts';
import type { TokenMaker } from '../../clients/tokens.ts';
import type { NewTask } from '../../store/task-store.ts';
import type { Deps } from '../deps.ts';
import { assertWebhookUrl } from '../webhooks/webhook-refusals.ts';
import { keyInUse, keyReused, overloadRefusal, tooManyTasks } from '../task-refusals.ts';
import { assertOrder } from './assert-order.ts';
import type { OrderCaller } from './assert-order.ts';
import { resolveOrder } from './resolve-order.ts';
import type { ResolvedOrder } from './resolve-order.ts';

export interface CreateRequest extends OrderCaller {
  readonly tokenId: string;
  readonly order: Order;
  /** The id of the request, for log lines. */
  readonly requestId?: string | undefined;
  readonly idempotency?: { readonly key: string; readonly fingerprint: string } | undefined;
  /** The most tasks that the token may have in flight. Absent: the configured limit. */
  readonly inFlightLimit?: number | undefined;
  /** The tokens that made it, the nearest first. The task counts against the limit of each. */
  readonly makers: readonly TokenMaker[];
  /** The URL that is told when the task ends. */
  readonly webhookUrl?: string | undefined;
  /** The span of the call. Absent: it is not recorded. */
  readonly span?: Span | undefined;
}

export type AdmitResult = { readonly earlier: Task } | { readonly resolved: ResolvedOrder; readonly facts: PriceFacts };

/** Runs the checks before the first write: the order, its key, then the things that the order names. */
export async function admitCreate(deps: Deps, request: CreateRequest): Promise<AdmitResult> {
  assertOrder(deps, request, request.order);
  assertWebhookUrl(deps.webhookAllow, request.webhookUrl, 'webhook_url');
  const earlier = await findEarlier(deps, request);
  if (earlier !== undefined) return { earlier };
  if (deps.isOverloaded()) throw overloadRefusal();
  const resolved = await resolveOrder(deps, request, request.order);
  return { resolved, facts: priceFacts(request.order, resolved.source?.seconds) };
}

/** The task that an earlier call with the same key made, if any. */
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
 * The counters that a create takes, each with its limit. A maker comes after what it made, in every create, so that
 * creates never wait for each other in a circle.
 */
export function listCaps(
  { limits }: Pick<Deps, 'limits'>,
  { tokenId, inFlightLimit, makers }: Pick<CreateRequest, 'tokenId' | 'inFlightLimit' | 'makers'>,
): NewTask['caps'] {
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
