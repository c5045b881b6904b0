import { MediaKind, MediaRole, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { Order } from '@reelgate/proto/tasks/v1/order';
import { Problem } from '@reelgate/platform/problem';

/** A short form of an order for tables: only the fields that are set. */
export function brief(order: Order): object {
  const { kind, model, duration, resolution, ratio, sourceTaskId, aigcWatermark, callbackUrl, size, extraJson } = order;
  const content = order.content.map(({ item }) => {
    if (item.case !== 'media') return item.value ?? '';
    const { url, declaredType, role } = item.value;
    return {
      [MediaKind[item.value.kind].toLowerCase()]: url === '' ? `(${declaredType})` : url,
      ...(role === MediaRole.UNSPECIFIED ? {} : { role: MediaRole[role].toLowerCase() }),
    };
  });
  const fields = {
    duration,
    resolution,
    ratio,
    aigcWatermark,
    callbackUrl,
    size,
    sourceTaskId: sourceTaskId === '' ? undefined : sourceTaskId,
    extra: extraJson === '' ? undefined : (JSON.parse(extraJson) as unknown),
  };
  return {
    kind: TaskKind[kind].toLowerCase(),
    model,
    content,
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
  };
}

/** The short form of a generation of "a boat" with the defaults of Alpha-H3. */
export const BOAT = {
  kind: 'generation',
  model: 'Alpha-H3',
  content: ['a boat'],
  duration: 5,
  resolution: '768P',
  ratio: '16:9',
};

/** The refusal that a function throws. */
export function refusalOf(run: () => unknown): {
  readonly reason: string;
  readonly field: string | undefined;
  readonly message: string;
} {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { reason: error.reason, field: error.field, message: error.message };
  }
  throw new Error('it was not refused');
}
