import { computeFingerprint } from '../../http/bodies/fingerprint.ts';
import { takeRate } from '../../http/admission/limit-rate.ts';
import type { TypeOf } from '../../domain/schema.ts';
import { collectAnnotations, mapAnnotations, removeAnnotations } from '../../domain/annotations.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import { computePollDelayMs } from '../../http/headers.ts';
import { invalid } from '../../dialects/wire/body-validator.ts';
import type { DecodedOrder } from '../../dialects/dialect.ts';
import { checkSubmission, submitOrder, inClientTerms, toPendingOrder } from '../../operations/submit-order.ts';
import type { Submission } from '../../operations/submit-order.ts';
import type { Task, TasksClient } from '../../clients/tasks-client.ts';
import { buildTool, buildObjectSchema, READ_ONLY } from '../mcp-tool.ts';
import type { McpTool, ToolCall, ToolParts, ToolQuestion } from '../mcp-tool.ts';
import { askToConfirm, readConfirmed } from '../confirm-order.ts';
import { pickAccountCaller, readBalanceLeft } from '../read-video.ts';
import { toStateName } from '../../dialects/wire/task-fields.ts';
import { encodeNextCall, moneySchemas, nextCallSchema, statusSchema } from '../shown-video.ts';
import { decodeVideoOrder, videoArguments } from '../video-order.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;
/** The path in the fingerprint of a create, so that a key is not shared with a create by HTTP. */
const FINGERPRINT_PATH = '/mcp/video_create';

/** The arguments for the annotations of a create. */
const annotationArguments = mapAnnotations(({ schema, forAgents }) => ({ ...schema, description: forAgents }));

const createInput = buildObjectSchema(
  {
    ...videoArguments,
    max_amount: {
      type: 'string',
      maxLength: 24,
      description: 'The most that may be held, a decimal such as "0.40": that of video_quote.',
    },
    currency: { type: 'string', maxLength: 3, description: 'The currency of max_amount.' },
    idempotency_key: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description: 'New for each video, the same on a retry; visible ASCII.',
    },
    ...annotationArguments,
    confirmation: {
      type: 'string',
      maxLength: 400,
      description: 'That of a refusal confirmation_required, only after the user has agreed to its amount.',
    },
  },
  ['max_amount', 'currency', 'idempotency_key'],
);
type CreateArguments = TypeOf<typeof createInput>;

/**
 * Orders a video within a bound. A repeat with the same key and arguments does not order again and shows the first
 * video.
 */
export function videoCreate(parts: ToolParts): McpTool {
  return buildTool({
    name: 'video_create',
    title: 'Order a video',
    description:
      'Orders a video and holds its price, at most max_amount. Only after video_quote, and only if the user agreed to ' +
      'the price. It returns at once; then call video_wait.',
    input: createInput,
    output: buildObjectSchema(
      {
        id: { type: 'string' },
        status: statusSchema,
        held: { ...moneySchemas.amount, description: 'The amount that is held until the end.' },
        currency: moneySchemas.currency,
        poll_after_seconds: { type: 'integer' },
        next_call: nextCallSchema,
      },
      ['id', 'status', 'currency', 'poll_after_seconds'],
    ),
    amounts: ['max_amount'],
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    run: async (args, call) => {
      const created = await createVideo(parts, args, call);
      if ('question' in created) return created;
      const task = created;
      if (call.followsTasks) return { startedTaskId: task.id };
      const { charge } = await parts.charges.read(task, pickAccountCaller(call));
      return {
        structured: {
          id: task.id,
          status: toStateName(task),
          ...(charge && { held: formatDecimal(charge.amountNanos) }),
          currency: args.currency,
          poll_after_seconds: Math.ceil(computePollDelayMs(task) / 1000),
          ...encodeNextCall(task),
        },
        sentence: 'Call video_wait with this id.',
      };
    },
  });
}

/**
 * Creates the video. If its price is above the amount of the token, the user is asked to agree first. The order is bound
 * by the price that the user agreed to, so a price that rises meanwhile is refused.
 */
async function createVideo(
  parts: ToolParts,
  { idempotency_key: key, confirmation, ...given }: CreateArguments,
  call: ToolCall,
): Promise<Task | ToolQuestion> {
  const order = removeAnnotations(given);
  await takeRate(parts, call.principal, 'creates');
  const fingerprint = await computeFingerprint({
    method: 'POST',
    path: FINGERPRINT_PATH,
    body: { json: { ...order, idempotency_key: key } },
  });
  const submission = {
    decoded: await decodeVideoOrder(parts, order, call),
    annotations: collectAnnotations((name) => given[name]),
    principal: call.principal,
    requestId: call.requestId,
    span: call.span,
    wait: undefined,
    idempotency: { key: readKey(key), fingerprint },
  };
  const agreed =
    readConfirmed(parts.confirmationKeys, { call, fingerprint }, confirmation, parts.clock.now()) ??
    call.principal.confirmAboveNanos;
  const { maxAmountNanos = 0n } = submission.decoded.beside;
  if (agreed === undefined || maxAmountNanos <= agreed) return submitVideo(parts, submission, call);
  const price = await estimateVideo(parts, submission.decoded, call);
  if (price.nanos <= agreed)
    return submitVideo(parts, { ...submission, decoded: lowerBound(submission.decoded, agreed) }, call);
  // a user is not asked about an order that would be refused, or that exists
  const earlier = await checkSubmission(parts, submission);
  return earlier ?? askToConfirm(parts.confirmationKeys, { call, fingerprint, ...price }, parts.clock.now());
}

async function submitVideo(parts: ToolParts, submission: Omit<Submission, 'onSubmit'>, call: ToolCall): Promise<Task> {
  const onSubmit = (): void => call.noteSubmit();
  const { task } = await submitOrder(parts, { ...submission, onSubmit });
  call.noteTask(task.id);
  return task;
}

function lowerBound(decoded: DecodedOrder, maxAmountNanos: bigint): DecodedOrder {
  return { ...decoded, beside: { ...decoded.beside, maxAmountNanos } };
}

function readKey(key: string): string {
  if (KEY.test(key)) return key;
  throw invalid('idempotency_key', 'must be 1 to 255 visible ASCII characters', 'invalid_idempotency_key');
}

/** Quotes the price of a video and the settings that it would have, without ordering it. */
export function videoQuote(parts: ToolParts): McpTool {
  return buildTool({
    name: 'video_quote',
    title: 'Quote a video',
    description:
      'Says what a video would cost, without ordering it. Call it before video_create, tell the user the price, and ' +
      'pass its max_amount and currency to video_create.',
    input: buildObjectSchema(videoArguments),
    output: buildObjectSchema(
      {
        ...moneySchemas,
        max_amount: { ...moneySchemas.amount, description: 'The least max_amount that video_create takes now.' },
        model: { type: 'string' },
        seconds: { type: 'integer' },
        resolution: { type: 'string' },
        ratio: { type: 'string' },
        balance_left: { ...moneySchemas.amount, description: 'What the account can still spend.' },
      },
      ['amount', 'max_amount', 'currency', 'model', 'resolution', 'balance_left'],
    ),
    hints: READ_ONLY,
    run: async (args, call) => {
      const decoded = await decodeVideoOrder(parts, args, call);
      const [{ amountNanos, nanos, currency, facts }, left] = await Promise.all([
        estimateVideo(parts, decoded, call),
        readBalanceLeft(parts, call),
      ]);
      const { model, duration, resolution = '', ratio } = decoded.order;
      const seconds = duration ?? Number(facts['seconds'] ?? 0n);
      return {
        structured: {
          amount: formatDecimal(amountNanos),
          max_amount: formatDecimal(nanos),
          currency,
          model,
          ...(seconds > 0 && { seconds }),
          resolution,
          ...(ratio !== undefined && ratio !== '' && { ratio }),
          balance_left: formatDecimal(left.nanos),
        },
        sentence: 'Nothing is ordered yet. The price can change until video_create, which max_amount bounds.',
      };
    },
  });
}

const DEADLINE_MS = 15_000;

/** The price of an order. `nanos` is the most that the order may hold, in billionths. */
type VideoEstimate = Awaited<ReturnType<TasksClient['estimateOrder']>> & { readonly nanos: bigint };

/** Computes what an order would cost now. */
async function estimateVideo(
  parts: ToolParts,
  decoded: DecodedOrder,
  { principal: { accountId, tokenId }, requestId, span }: ToolCall,
): Promise<VideoEstimate> {
  const estimate = await inClientTerms(
    decoded,
    parts.tasks.estimateOrder(
      { accountId, tokenId, order: toPendingOrder(decoded) },
      { timeoutMs: DEADLINE_MS, requestId, span },
    ),
  );
  return { ...estimate, nanos: estimate.maxAmountNanos ?? estimate.amountNanos };
}
