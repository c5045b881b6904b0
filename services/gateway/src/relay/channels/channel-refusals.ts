import { Problem } from '@reelgate/platform/problem';

const MODEL_LENGTH_SHOWN = 64;

export function modelNotFound(model: string): Problem {
  const shown = JSON.stringify(model.slice(0, MODEL_LENGTH_SHOWN));
  return new Problem({
    kind: 'not_found',
    reason: 'model_not_found',
    field: 'model',
    message: `${shown} is not a model that this token can use here; GET /v1/models lists those that it can`,
  });
}

/** Every channel of the model is at one of its limits. */
export function channelsBusy(retryAfterMs?: number): Problem {
  return new Problem({
    kind: 'exhausted',
    reason: 'rate_limit_exceeded',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    message: 'the upstreams of this model are at their limits; try again later',
  });
}

export function noChannelAvailable(cause?: Error): Problem {
  return new Problem({
    kind: 'unavailable',
    reason: 'no_channel_available',
    message: 'no upstream of this model can be reached now; try again later',
    cause,
  });
}
