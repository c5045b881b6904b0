import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { ClientBody, DecodedOrder } from '../dialect.ts';
import { readContent } from '../wire/content-items.ts';
import { toDecodedOrder } from '../wire/decoded.ts';
import { invalid } from '../wire/body-validator.ts';
import { readContextIr, readGeneration, readRegeneration } from './create-bodies.ts';

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
