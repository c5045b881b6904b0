import type { Message } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { CallContext, Implementation } from '@reelgate/platform/rpc/service';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import type { EveryField } from '@reelgate/platform/rpc/whole-message';
import { EstimateOrderResponseSchema } from '@reelgate/proto/tasks/v1/task_service';
import type {
  CheckOrderRequest,
  CreateTaskRequest,
  CreateTaskResponse,
  TaskService,
} from '@reelgate/proto/tasks/v1/task_service';
import type { Task as WireTask } from '@reelgate/proto/tasks/v1/task';
import { completeAnnotations, readAnnotations } from '../domain/annotations.ts';
import type { EveryMember } from '../domain/every-member.ts';
import type { BesideOrder } from '../domain/task.ts';
import type { TokenReader } from '../operations/cached-tokens.ts';
import { cancelTask } from '../operations/ends/cancel-task.ts';
import { assertOrder } from '../operations/creates/admit-create.ts';
import { listIgnored } from '../operations/creates/choose-extra.ts';
import { checkCreate, estimateOrder } from '../operations/creates/check-create.ts';
import { countRefusals } from '../operations/task-refusals.ts';
import { createTask } from '../operations/creates/create-task.ts';
import type { CreateRequest } from '../operations/create-context.ts';
import { deleteTask } from '../operations/ends/delete-task.ts';
import type { Deps } from '../operations/deps.ts';
import { callbackHandler } from '../operations/polls/handle-callback.ts';
import { digestOrder } from '../operations/creates/idempotency.ts';
import { assertWebhookUrl } from '../operations/webhooks/webhook-refusals.ts';
import type { contentMethods } from './content-methods.ts';
import { fromWireOrder, inContractTerms } from './mapping-order.ts';
import { toWireCreated, toWireTask } from '../operations/reads/work-messages.ts';
import { readPreference, toWirePreference, emptyToUndefined, readIdempotency } from './request-fields.ts';
import { EVERY_MODEL, listModels, readMethods } from './task-read-methods.ts';
import type { watchService } from './watch-service.ts';

type OtherMethods = ReturnType<typeof watchService> & ReturnType<typeof contentMethods>;
type OwnMethods = Omit<Implementation<typeof TaskService>, keyof OtherMethods | keyof typeof LISTS>;

/** The methods that take a list, each with the method of its calls. */
export const LISTS = { createTasks: 'createTask' } as const;

/**
 * Each method converts from the wire, runs an operation and converts to the wire. The others are in `watch-service` and
 * `content-methods`.
 */
export function taskService(deps: Deps, tokens: TokenReader): OwnMethods {
  const handleCallback = callbackHandler(deps);
  const now = (): number => deps.clock.now();
  return {
    checkOrder: (request, { signal }) => inContractTerms(checkOrder(deps, tokens, request, signal)),
    estimateOrder: async (request, { signal }) => {
      const { models, wait } = await tokens.findRights(request.tokenId, request.accountId);
      const { quote, facts, order } = await inContractTerms(
        estimateOrder(
          deps,
          {
            accountId: request.accountId,
            visibleModels: models,
            order: fromWireOrder(request.order),
            wait: readPreference(request.queue),
            tokenWait: wait,
          },
          signal,
        ),
      );
      return toMessage(EstimateOrderResponseSchema, {
        amountNanos: quote.amountNanos,
        currency: quote.currency,
        contract: quote.contract,
        version: quote.version,
        maxAmountNanos: quote.maxAmountNanos,
        ignoredFields: listIgnored(order),
        facts: {
          seconds: BigInt(facts.seconds),
          input_video_seconds: BigInt(facts.inputVideoSeconds),
          images: BigInt(facts.images),
        },
      });
    },
    createTask: async (request, { signal, requestId, span }) => {
      const named = { requestId: emptyToUndefined(requestId), span };
      const create = async () => createTask(deps, { ...(await toCreateRequest(tokens, request)), ...named }, signal);
      const refused = { model: request.order?.model ?? '', accountId: request.accountId };
      const { task, replayed, applied } = await countRefusals(deps, refused, () => inContractTerms(create()));
      return {
        $typeName: 'reelgate.tasks.v1.CreateTaskResponse',
        task: toWireCreated(task),
        replayed,
        applied: toWirePreference(applied),
      } satisfies EveryField<CreateTaskResponse>;
    },
    listModels: (request) => listModels(deps, tokens, request),
    ...readMethods(deps),
    cancelTask: async ({ accountId, taskId }, { signal, span }: CallContext) => {
      const task = await cancelTask(deps, accountId, taskId, signal);
      span.link(task.trace);
      return { task: toWireTask(task, now()) };
    },
    deleteTask: async ({ accountId, taskId }, { signal }) => ({
      deletedAt: timestampFromMs(await deleteTask(deps, accountId, taskId, signal)),
    }),
    handleCallback: async ({ token, upstreamTaskId, body, headers }, { span }) => {
      await handleCallback(token, { body, headers, upstreamId: upstreamTaskId }, span);
      return {};
    },
  };
}

async function checkOrder(
  deps: Deps,
  tokens: TokenReader,
  request: CheckOrderRequest,
  signal: AbortSignal,
): Promise<{ readonly task?: WireTask }> {
  if (request.tokenId === '') {
    assertAlone(deps, request);
    return {};
  }
  const earlier = await checkCreate(deps, await toCreateRequest(tokens, request), signal);
  return earlier === undefined ? {} : { task: toWireCreated(earlier) };
}

/** Refuses orders that are invalid for every token. */
function assertAlone(deps: Deps, request: CheckOrderRequest): void {
  assertOrder(deps, { accountId: request.accountId, visibleModels: EVERY_MODEL }, fromWireOrder(request.order));
  assertWebhookUrl(deps.webhookAllow, emptyToUndefined(request.webhookUrl), 'webhook_url');
}

/** The rights of the token come from billing, never from the request. */
async function toCreateRequest(
  tokens: TokenReader,
  request: Omit<CreateTaskRequest, keyof Message>,
): Promise<EveryMember<Omit<CreateRequest, 'requestId' | 'span'>>> {
  const rights = await tokens.findRights(request.tokenId, request.accountId);
  const order = fromWireOrder(request.order);
  const given = readBeside(request);
  const beside = { ...given, ...completeAnnotations(given, rights) };
  return {
    accountId: request.accountId,
    tokenId: request.tokenId,
    visibleModels: rights.models,
    order,
    beside,
    idempotency: readIdempotency(request, () => digestOrder(order, beside)),
    wait: readPreference(request.queue),
    tokenWait: rights.wait,
    inFlightLimit: rights.inFlight,
    makers: rights.makers,
  };
}

/** A member of either side that the other one lacks does not compile. */
type Beside = Omit<
  CreateTaskRequest,
  keyof Message | 'accountId' | 'tokenId' | 'order' | 'idempotencyKey' | 'requestFingerprint' | 'queue'
>;

function readBeside({ webhookUrl, maxAmountNanos, currency, ...annotations }: Beside): EveryMember<BesideOrder> {
  return {
    webhookUrl: emptyToUndefined(webhookUrl),
    maxAmountNanos,
    currency: emptyToUndefined(currency),
    ...readAnnotations(annotations),
  } satisfies Record<keyof Required<Beside>, unknown>;
}
