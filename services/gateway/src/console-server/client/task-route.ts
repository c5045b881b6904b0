import { WebhookDeliverySchema } from '@reelgate/proto/tasks/v1/webhook';
import type { WebhookDelivery } from '@reelgate/proto/tasks/v1/webhook';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { GetTaskTimelineResponse } from '@reelgate/proto/tasks/v1/task_service';
import type { TaskView } from '../../../console/api/task.ts';
import type { AccountCaller } from '../../clients/caller.ts';
import type { Principal } from '../../clients/billing-client.ts';
import type { TaskHold } from '../../clients/money-client.ts';
import { emptyToUndefined, requireValue } from '../../clients/wire-values.ts';
import { encodeReadVideo } from '../../dialects/openai/encode.ts';
import { requirePrincipal } from '../../http/http-exchange.ts';
import { readTaskId } from '../../http/routes/task-id.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { listVisibleModels } from '../../operations/principals.ts';
import { toCharge } from '../../operations/read-charge.ts';
import { consoleRoute } from '../console-route.ts';
import { toContractJson } from '../contract-json.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import { toTaskMoney } from '../views/money-view.ts';
import { canRegenerate, videoView, wholeTask } from '../views/task-view.ts';
import { buildTimeline } from '../views/timeline-view.ts';
import { sameCall } from './same-call.ts';
import { toAccountCaller, ifReadable } from './task-parts.ts';
import type { TaskPageParts } from './task-parts.ts';

type Parts = Omit<TaskPageParts, 'usage' | 'limits'>;

/** `GET /tasks/{task_id}`: everything of a task. For other accounts the task does not exist. */
export function taskRoute(parts: Parts): RouteEntry {
  return consoleRoute({
    method: 'GET',
    path: '/tasks/{task_id}',
    name: 'getTaskOfConsole',
    answer: (exchange) =>
      readTaskView(parts, toAccountCaller(exchange), requirePrincipal(exchange), readTaskId(exchange)),
  });
}

async function readTaskView(
  parts: Parts,
  caller: AccountCaller,
  principal: Principal,
  taskId: string,
): Promise<TaskView> {
  const { clock, reader, links, catalogue, publicUrl } = parts;
  // the tasks service decides whose task it is, before anything else is read of it
  const task = await reader.read({ accountId: caller.accountId, taskId }, caller.requestId, caller.span);
  const { timeline, tokenName, money, deliveries, unavailable } = await readTaskParts(parts, caller, principal, taskId);
  const now = clock.now();
  return {
    task: { ...wholeTask(task, money?.hold, now), ...toCreator(timeline, tokenName) },
    ...dropUndefined({
      video: videoView(task, now),
      text: emptyToUndefined(task.result?.prompt ?? ''),
      money: money && toTaskMoney(money.hold, money.terms),
      sameCall: sameCall(requireValue(task.order), {
        publicUrl,
        accountId: caller.accountId,
        tokenId: timeline?.tokenId ?? '',
      }),
    }),
    timeline: buildTimeline({ steps: timeline?.entries ?? [], hold: money?.hold, deliveries }),
    deliveries: deliveries.map((one) => toContractJson(WebhookDeliverySchema, one)),
    raw: encodeReadVideo(task, links, money && toCharge(money.hold)),
    canCancel: task.state === TaskState.QUEUED,
    canRegenerate: canRegenerate(task, listVisibleModels(principal, catalogue()), now),
    unavailable,
    now,
  };
}

function toCreator(
  timeline: GetTaskTimelineResponse | undefined,
  tokenName: string,
): { readonly tokenId: string; readonly tokenName: string; readonly requestId?: string } {
  return {
    tokenId: timeline?.tokenId ?? '',
    tokenName,
    ...dropUndefined({ requestId: emptyToUndefined(timeline?.requestId ?? '') }),
  };
}

interface PartsOfTask {
  readonly timeline: GetTaskTimelineResponse | undefined;
  readonly tokenName: string;
  readonly money: HoldPrice | undefined;
  readonly deliveries: readonly WebhookDelivery[];
  readonly unavailable: TaskView['unavailable'];
}

interface HoldPrice {
  readonly hold: TaskHold;
  readonly terms: unknown;
}

/** Read at once. A part that cannot be read is named. */
async function readTaskParts(
  parts: Parts,
  caller: AccountCaller,
  principal: Principal,
  taskId: string,
): Promise<PartsOfTask> {
  const { log, taskPages, webhooks } = parts;
  const maySeeWebhooks = principal.webhooks !== 'none';
  const [traced, priced, deliveries] = await Promise.all([
    ifReadable(log, 'timeline', taskPages.timeline(caller, taskId)),
    ifReadable(log, 'money', readPrice(parts, caller, taskId)),
    maySeeWebhooks ? ifReadable(log, 'deliveries', webhooks.listAbout(caller, taskId)) : [],
  ]);
  return {
    timeline: traced,
    tokenName: traced === undefined ? '' : await findTokenName(parts, caller, principal, traced.tokenId),
    money: priced?.money,
    deliveries: deliveries ?? [],
    unavailable: [
      ...(priced === undefined ? ['money' as const] : []),
      ...(traced === undefined ? ['timeline' as const] : []),
      ...(deliveries === undefined ? ['deliveries' as const] : []),
    ],
  };
}

/** Without its terms a price is still shown. */
async function readPrice(
  { log, books }: Parts,
  caller: AccountCaller,
  taskId: string,
): Promise<{ readonly money: HoldPrice | undefined }> {
  const hold = await books.hold(caller, taskId);
  if (hold === undefined) return { money: undefined };
  return { money: { hold, terms: await ifReadable(log, 'terms', books.terms(caller, hold.contract, hold.version)) } };
}

async function findTokenName(
  { log, books }: Parts,
  caller: AccountCaller,
  { tokenId: ownId, tokenName }: Principal,
  tokenId: string,
): Promise<string> {
  if (tokenId === ownId) return tokenName;
  return (await ifReadable(log, 'token', books.tokenName(caller, tokenId))) ?? '';
}
