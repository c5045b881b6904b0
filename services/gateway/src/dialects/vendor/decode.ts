import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { ClientBody, DecodedOrder } from '../dialect.ts';
import { readContent, contentSchema } from '../wire/content-items.ts';
import { toDecodedOrder } from '../wire/decoded.ts';
import { invalid, bodyValidator } from '../wire/body-validator.ts';
import { objectSchema } from '../../domain/schema.ts';
import type { Schema } from '../../domain/schema.ts';

const model = { type: 'string', description: 'The id of the model.', examples: ['Alpha-H3'] } as const satisfies Schema;
const alpha = { type: 'string', description: 'Exactly Alpha-H3.', examples: ['Alpha-H3'] } as const satisfies Schema;
const duration = {
  type: 'integer',
  description: 'Whole seconds within the range of the model.',
  examples: [5],
} as const satisfies Schema;
const resolution = {
  type: 'string',
  description: 'A resolution of the model, such as 768P or 2K.',
  examples: ['768P'],
} as const satisfies Schema;
const ratio = {
  type: 'string',
  description: 'A ratio of the model. Without media it is required and must not be adaptive.',
  examples: ['16:9'],
} as const satisfies Schema;

const readGeneration = bodyValidator(
  objectSchema(
    {
      model,
      content: contentSchema,
      duration,
      resolution,
      ratio,
    },
    ['ratio'],
  ),
);

const readRegeneration = bodyValidator(
  objectSchema(
    {
      model: alpha,
      resolution: { type: 'string', description: 'Exactly 2K.', examples: ['2K'] },
      source_task_id: { type: 'string', description: 'Mode A: the id of a finished 768P task.' },
      content: {
        ...contentSchema,
        description: 'Mode B: one base_video, the final prompt of that video and its reference media.',
      },
      aigc_watermark: { type: 'boolean' },
    },
    ['source_task_id', 'content', 'aigc_watermark'],
  ),
);

const readContextIr = bodyValidator(
  objectSchema(
    {
      model: alpha,
      content: contentSchema,
      duration: { ...duration, description: 'Whole seconds from 4 to 15.' },
      ratio,
      callback_url: {
        type: 'string',
        description: 'Passed to the generator unchanged; the generator reports to this URL itself.',
      },
    },
    ['ratio', 'callback_url'],
  ),
);

const INT32_MAX = 2 ** 31 - 1;

export function decodeGeneration(body: ClientBody): DecodedOrder {
  const { content, duration, ...fields } = readGeneration(readJson(body));
  return toDecodedOrder({
    order: { kind: TaskKind.GENERATION, ...fields, duration: checkDuration(duration) },
    items: readContent(content),
  });
}

export function decodeRegeneration(body: ClientBody): DecodedOrder {
  const {
    model,
    resolution,
    source_task_id: sourceTaskId = '',
    content = [],
    aigc_watermark: aigcWatermark,
  } = readRegeneration(readJson(body));
  return toDecodedOrder({
    order: {
      kind: TaskKind.REGENERATION,
      model,
      resolution,
      sourceTaskId,
      ...(aigcWatermark === undefined ? {} : { aigcWatermark }),
    },
    items: readContent(content),
  });
}

export function decodeContextIr(body: ClientBody): DecodedOrder {
  const { model, content, duration, ratio, callback_url: callbackUrl } = readContextIr(readJson(body));
  return toDecodedOrder({
    order: {
      kind: TaskKind.CONTEXT_IR,
      model,
      duration: checkDuration(duration),
      ...(ratio === undefined ? {} : { ratio }),
      ...(callbackUrl === undefined ? {} : { callbackUrl }),
    },
    items: readContent(content),
  });
}

/** Returns the JSON of a body. These paths do not accept forms. */
function readJson(body: ClientBody): unknown {
  return 'json' in body ? body.json : undefined;
}

/** The tasks service checks the range of the model. A value beyond 32 bits does not fit into the order. */
function checkDuration(duration: number): number {
  if (Math.abs(duration) > INT32_MAX)
    throw invalid('duration', `must be whole seconds within the range of the model; it is ${duration}`);
  return duration;
}
