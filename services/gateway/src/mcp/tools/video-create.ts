import { computeFingerprint } from '../../http/bodies/fingerprint.ts';
import { takeRate } from '../../http/admission/limit-rate.ts';
import { LABEL_SCHEMA } from '../../openapi/document.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import { computePollDelayMs } from '../../http/headers.ts';
import { invalid } from '../../dialects/wire/body-validator.ts';
import { submitOrder } from '../../operations/submit-order.ts';
import type { Task } from '../../clients/tasks-client.ts';
import { buildTool, buildObjectSchema } from '../mcp-tool.ts';
import type { McpTool, ToolCall, ToolParts } from '../mcp-tool.ts';
import { pickAccountCaller } from '../read-video.ts';
import { toStateName } from '../../dialects/wire/task-fields.ts';
import { encodeNextCall, moneySchemas, nextCallSchema, statusSchema } from '../shown-video.ts';
import { decodeVideoOrder, videoArguments } from '../video-order.ts';
import type { VideoArguments } from '../video-order.ts';

interface CreateArguments extends VideoArguments {
  readonly max_amount: string;
  readonly currency: string;
  readonly idempotency_key: string;
  readonly label?: string;
}

const KEY = /^[\x21-\x7e]{1,255}$/;
/** The path in the fingerprint of a create, so that a key is not shared with a create by HTTP. */
const FINGERPRINT_PATH = '/mcp/video_create';

/** Orders a video within a bound. A repeat with the same key and arguments orders nothing and shows the first. */
export function videoCreate(parts: ToolParts): McpTool {
  return buildTool<CreateArguments>({
    name: 'video_create',
    title: 'Order a video',
    description:
      'Orders a video and holds its price, at most max_amount. Only after video_quote, and only if the user agreed to ' +
      'the price. It returns at once; then call video_wait.',
    input: buildObjectSchema(
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
        label: { ...LABEL_SCHEMA, description: 'A word for the accounts of the user, such as a project.' },
      },
      ['max_amount', 'currency', 'idempotency_key'],
    ),
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
      const task = await createVideo(parts, args, call);
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

async function createVideo(parts: ToolParts, args: CreateArguments, call: ToolCall): Promise<Task> {
  const { idempotency_key: key, label, ...order } = args;
  await takeRate(parts, call.principal, 'creates');
  const { task } = await submitOrder(parts, {
    decoded: await decodeVideoOrder(parts, order, call),
    label,
    principal: call.principal,
    requestId: call.requestId,
    span: call.span,
    wait: undefined,
    onSubmit: () => {
      call.noteSubmit();
    },
    idempotency: {
      key: readKey(key),
      fingerprint: await computeFingerprint({
        method: 'POST',
        path: FINGERPRINT_PATH,
        body: { json: { ...order, idempotency_key: key } },
      }),
    },
  });
  call.noteTask(task.id);
  return task;
}

function readKey(key: string): string {
  if (KEY.test(key)) return key;
  throw invalid('idempotency_key', 'must be 1 to 255 visible ASCII characters', 'invalid_idempotency_key');
}
