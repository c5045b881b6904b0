import { Problem } from '@reelgate/platform/problem';
import type { MediaPort } from '../clients/media-port.ts';
import type { Principal } from '../clients/billing-client.ts';
import type { Order, Task, TasksClient } from '../clients/tasks-client.ts';
import type { Decoded } from '../dialects/dialect.ts';
import { streamOf } from './inline-bytes.ts';

const CHECK_DEADLINE_MS = 10_000;
/** A create can fetch media and try several channels; the work goes on when the client has left. */
const CREATE_DEADLINE_MS = 300_000;
/** Stands in an order for bytes that are not stored yet. */
const PENDING_OBJECT = 'pending';

export interface CreateTaskDeps {
  readonly tasks: Pick<TasksClient, 'checkOrder' | 'createTask'>;
  readonly media: Pick<MediaPort, 'put'>;
}

export interface CreateTask {
  readonly principal: Principal;
  readonly decoded: Decoded;
  readonly requestId: string;
  /** Names this create, with a digest of everything that it asks for. */
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | undefined;
  /** Told right before the order leaves: from then on a fault says nothing of whether there is a task. */
  readonly onHandOver: () => void;
}

/** Has an order accepted, or refused in the client's own words. Bytes are stored only for an order that is right in itself. */
export async function createTask(deps: CreateTaskDeps, { principal, decoded, requestId, idempotency, onHandOver }: CreateTask): Promise<{ readonly task: Task; readonly replayed: boolean }> {
  const { accountId, tokenId, models, limits } = principal;
  const asked = { accountId, visibleModels: [...models] };
  if (decoded.inline.length > 0) {
    await inWordsOf(decoded, deps.tasks.checkOrder({ ...asked, order: pendingOrder(decoded) }, { timeoutMs: CHECK_DEADLINE_MS, requestId }));
  }
  const order = await storeInline(deps.media, decoded, accountId);
  onHandOver();
  const { task, replayed } = await inWordsOf(decoded, deps.tasks.createTask(
    { ...asked, tokenId, order, idempotencyKey: idempotency?.key ?? '', requestFingerprint: idempotency?.fingerprint ?? '', inFlightLimit: limits?.inFlight ?? 0 },
    { timeoutMs: CREATE_DEADLINE_MS, requestId },
  ));
  if (task === undefined) throw new Error('an answer without a task');
  return { task, replayed };
}

/** The order as it can be judged before its bytes are stored. */
export function pendingOrder({ order, inline }: Decoded): Order {
  return withObjects(order, new Map(inline.map(({ item }) => [item, PENDING_OBJECT])));
}

/** What a call gives; a refusal of the order names the field as the client wrote it. */
export async function inWordsOf<T>({ spell }: Pick<Decoded, 'spell'>, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof Problem) || error.field === undefined) throw error;
    const { kind, reason, message, retryAfterMs } = error;
    throw new Problem({ kind, reason, message, retryAfterMs, field: spell(error.field), cause: error.cause });
  }
}

/** One after another: together they could take the memory of many bodies. */
async function storeInline(media: Pick<MediaPort, 'put'>, { order, inline }: Decoded, accountId: string): Promise<Order> {
  const objects = new Map<number, string>();
  for (const medium of inline) {
    const { stream, fault } = streamOf(medium);
    try {
      const { object } = await media.put(stream, accountId);
      objects.set(medium.item, object);
    } catch (error) {
      throw fault() ?? withField(error, medium.field);
    } finally {
      stream.destroy();
    }
  }
  return withObjects(order, objects);
}

function withField(error: unknown, field: string): unknown {
  if (!(error instanceof Problem) || error.field !== undefined || error.kind !== 'invalid') return error;
  return new Problem({ kind: error.kind, reason: error.reason, message: error.message, field, cause: error });
}

function withObjects(order: Order, objects: ReadonlyMap<number, string>): Order {
  return {
    ...order,
    content: order.content.map((content, index) => {
      const object = objects.get(index);
      if (object === undefined || content.item.case !== 'media') return content;
      return { ...content, item: { case: 'media', value: { ...content.item.value, object } } };
    }),
  };
}
