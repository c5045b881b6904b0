import { WebhookDeliverySchema } from '@reelgate/proto/tasks/v1/webhook';
import type { WebhookDelivery } from '@reelgate/proto/tasks/v1/webhook';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { TaskRecordSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { TaskRecord } from '@reelgate/proto/tasks/v1/operator_service';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import type { GetTaskTimelineResponse } from '@reelgate/proto/tasks/v1/task_service';
import type { OperatorTaskView, ReportedUsage } from '../../../console/api/operator-tasks.ts';
import type { AccountCaller } from '../../clients/caller.ts';
import type { AccountBooks, TaskHold } from '../../clients/money-client.ts';
import type { TaskPages } from '../../clients/tasks-client.ts';
import { withDeadline } from '../../clients/caller.ts';
import type { OperatorClients } from '../../clients/gateway-clients.ts';
import type { SiteTokens } from '../../clients/tokens-client.ts';
import type { Webhooks } from '../../clients/webhooks-client.ts';
import { emptyToUndefined, requireValue } from '../../clients/wire-values.ts';
import { encodeReadVideo } from '../../dialects/openai/encode.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { readTaskId } from '../../http/routes/task-id.ts';
import { ifReadable } from '../client/task-parts.ts';
import { toContractJson } from '../contract-json.ts';
import { toMoney, toTaskMoney } from '../views/money-view.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import { readVideo, wholeTask } from '../views/task-view.ts';
import { buildTimeline } from '../views/timeline-view.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';

const DEADLINE_MS = 15_000;
const NANOS_PER_MICRO = 1000n;
/** An operator does not see the video of a client. */
const NO_LINKS = {
  toVideoUrl: () => undefined,
  toAddress: (path: string) => path,
  toPublicPath: (path: string) => path,
};

export interface TaskParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly clients: Pick<OperatorClients, 'tasks'>;
  readonly books: AccountBooks;
  readonly tokens: SiteTokens;
  readonly taskPages: TaskPages;
  readonly webhooks: Webhooks;
}

/**
 * `GET /tasks/{task_id}`: everything of a task, with its private facts. It joins three services, and shows the answer that
 * the client of the task gets, which only the encoder of a dialect here can tell.
 */
export function operatorTaskRoute(parts: TaskParts): OperatorRouteEntry {
  return operatorRoute({
    method: 'GET',
    path: '/tasks/{task_id}',
    name: 'getTaskOfOperators',
    role: 'viewer',
    answer: (exchange) => readTaskView(parts, exchange),
  });
}

async function readTaskView(parts: TaskParts, exchange: Exchange): Promise<OperatorTaskView> {
  const { requestId, span } = exchange.state;
  const question = { taskId: readTaskId(exchange) };
  const shown = await parts.clients.tasks.showTask(question, withDeadline(exchange.state, DEADLINE_MS));
  const record = requireValue(shown.record);
  const { task: owned, ...facts } = record;
  const task = requireValue(owned);
  const caller = { accountId: task.accountId, requestId, span };
  const { timeline, priced, deliveries, tokenName, isInAttention, unavailable } = await readTaskParts(
    parts,
    caller,
    record,
  );
  const now = parts.clock.now();
  const money = priced?.money;
  return {
    task: { ...toOperatorTask(task, money?.hold, now), accountId: task.accountId, tokenId: record.tokenId, tokenName },
    record: toContractJson(TaskRecordSchema, facts),
    ...dropUndefined({ video: readVideo(task), text: emptyToUndefined(task.result?.prompt ?? '') }),
    ...(money === undefined ? {} : { money: toTaskMoney(money.hold, money.terms) }),
    timeline: buildTimeline({ steps: timeline?.entries ?? [], hold: money?.hold, deliveries }),
    deliveries: deliveries.map((one) => toContractJson(WebhookDeliverySchema, one)),
    raw: encodeReadVideo(task, NO_LINKS),
    ...dropUndefined({
      usage: readUsage(task.usage),
      upstreamCost: readUpstreamCost(record, money?.hold),
    }),
    isInAttention,
    unavailable,
    now,
  };
}

const USAGE = [
  'totalSeconds',
  'inputSeconds',
  'outputSeconds',
  'inputImageCount',
  'inputAudioSeconds',
  'totalTokens',
  'promptTokens',
  'completionTokens',
] as const satisfies readonly (keyof ReportedUsage)[];

/** Undefined: the upstream reported nothing. */
function readUsage(usage: Task['usage']): ReportedUsage | undefined {
  const reported = USAGE.flatMap((name) => (usage?.[name] === undefined ? [] : [[name, Number(usage[name])]]));
  return reported.length === 0 ? undefined : (Object.fromEntries(reported) as ReportedUsage);
}

/** The reported cost, or else the estimate; undefined: neither is known. */
function readUpstreamCost(
  { upstreamCostMicroUsd: reported }: TaskRecord,
  hold: TaskHold | undefined,
): OperatorTaskView['upstreamCost'] {
  if (reported !== undefined) return { ...toMoney(reported * NANOS_PER_MICRO, 'USD'), source: 'reported' };
  if (hold?.estimatedCostNanos === undefined) return undefined;
  return { ...toMoney(hold.estimatedCostNanos, hold.currency), source: 'estimated' };
}

/** An operator does not see a picture of a client's video. */
function toOperatorTask(
  task: Task,
  hold: TaskHold | undefined,
  now: number,
): Omit<OperatorTaskView['task'], 'accountId' | 'tokenId' | 'tokenName'> {
  const { thumbnail: _, ...whole } = wholeTask(task, hold, now);
  return whole;
}

interface PartsOfTask {
  readonly timeline: GetTaskTimelineResponse | undefined;
  readonly priced: PriceResult | undefined;
  readonly deliveries: readonly WebhookDelivery[];
  readonly tokenName: string;
  readonly isInAttention: boolean;
  readonly unavailable: OperatorTaskView['unavailable'];
}

interface PriceResult {
  /** Undefined: the task has no hold. */
  readonly money: { readonly hold: TaskHold; readonly terms: unknown } | undefined;
}

/** Read at once. A part that cannot be read is named. */
async function readTaskParts(
  parts: TaskParts,
  caller: AccountCaller,
  { task, tokenId }: TaskRecord,
): Promise<PartsOfTask> {
  const { log, taskPages, webhooks, tokens, clients } = parts;
  const { id } = requireValue(task);
  const [timeline, priced, deliveries, listed, { items }] = await Promise.all([
    ifReadable(log, 'timeline', taskPages.timeline(caller, id)),
    ifReadable(log, 'money', readPrice(parts, caller, id)),
    ifReadable(log, 'deliveries', webhooks.listAbout(caller, id)),
    ifReadable(log, 'token', tokens.list(caller)),
    clients.tasks.listAttention({}, withDeadline(caller, DEADLINE_MS)),
  ]);
  return {
    timeline,
    priced,
    deliveries: deliveries ?? [],
    tokenName: listed?.tokens.find((token) => token.id === tokenId)?.name ?? '',
    isInAttention: items.some(({ taskId }) => taskId === id),
    unavailable: [
      ...(priced === undefined ? ['money' as const] : []),
      ...(timeline === undefined ? ['timeline' as const] : []),
      ...(deliveries === undefined ? ['deliveries' as const] : []),
    ],
  };
}

/** Without its terms a price is still shown. */
async function readPrice({ log, books }: TaskParts, caller: AccountCaller, taskId: string): Promise<PriceResult> {
  const hold = await books.hold(caller, taskId);
  if (hold === undefined) return { money: undefined };
  return { money: { hold, terms: await ifReadable(log, 'terms', books.terms(caller, hold.contract, hold.version)) } };
}
