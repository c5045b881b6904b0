import type { Message } from '@bufbuild/protobuf';
import type { Log } from '@reelgate/platform/log';
import type { Span } from '@reelgate/platform/trace/trace';
import { Problem } from '@reelgate/platform/problem';
import type { InlineStore } from '../clients/media-port.ts';
import type { Principal } from '../clients/billing-client.ts';
import { fromWirePreference, toWirePreference } from '../clients/tasks-client.ts';
import type {
  WaitPreference,
  CreateTaskRequest,
  Order,
  Task,
  TasksClient,
  WholeCreateRequest,
} from '../clients/tasks-client.ts';
import { fillAnnotations } from '../domain/annotations.ts';
import type { AnnotationName, Annotations } from '../domain/annotations.ts';
import type { BesideOrder, DecodedOrder, FieldNames, InlineMedia } from '../dialects/dialect.ts';
import { readOwn } from '../domain/read-own.ts';
import { isUncertain } from '../problems/error-table.ts';
import { Readable } from 'node:stream';
import { refuse } from '../refusals.ts';

const CHECK_DEADLINE_MS = 10_000;
/** A create can fetch media and try several channels. It continues if the client leaves. */
const CREATE_DEADLINE_MS = 300_000;
/** The placeholder in an order for bytes that are not stored yet. */
const PENDING_OBJECT = 'pending';

/** The fields of the contract that clients write as preferences. */
const PREFERENCES: Readonly<Record<string, string>> = { not_before: 'Prefer: not-before' };

export interface SubmitOrderDeps {
  readonly tasks: TasksClient;
  readonly media: InlineStore;
  readonly log: Log;
}

export interface Submission {
  readonly principal: Principal;
  readonly decoded: DecodedOrder;
  readonly annotations: Annotations;
  readonly requestId: string;
  readonly span?: Span | undefined;
  /** The client's key for this create, with a digest of the request. */
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | undefined;
  /** The way in which it waits while no channel takes it; undefined if the token decides. */
  readonly wait: WaitPreference | undefined;
  /** Called right before the order is sent. From then on a failure leaves it uncertain whether a task exists. */
  readonly onSubmit: () => void;
}

export interface SubmittedTask {
  readonly task: Task;
  readonly replayed: boolean;
  /** The applied part of the preference. */
  readonly applied: WaitPreference;
}

/**
 * Submits an order. A refusal names the field as the client wrote it. The gateway stores inline bytes only for an
 * order that would be accepted now. It removes them once the order is accepted or refused, because the task has its
 * own copies by then. If the answer is lost, the bytes stay until they expire.
 */
export async function submitOrder(deps: SubmitOrderDeps, submission: Submission): Promise<SubmittedTask> {
  const { decoded } = submission;
  if (decoded.inline.length === 0) return sendOrder(deps, submission, decoded.order);

  const earlier = await checkSubmission(deps, submission);
  if (earlier !== undefined) return { task: earlier, replayed: true, applied: {} };
  const stored = new Map<number, string>();
  let isUncertainYet = false;
  try {
    await storeInline(deps.media, submission, stored);
    isUncertainYet = true;
    const created = await sendOrder(deps, submission, withObjects(decoded.order, stored));
    isUncertainYet = false;
    return created;
  } catch (error) {
    isUncertainYet &&= mayStillRun(error);
    throw error;
  } finally {
    if (!isUncertainYet) await removeStored(deps, [...stored.values()]);
  }
}

/** Refuses an order that would be refused now. Returns the task of an earlier request with the same key. */
export async function checkSubmission(
  { tasks }: Pick<SubmitOrderDeps, 'tasks'>,
  submission: Omit<Submission, 'onSubmit'>,
): Promise<Task | undefined> {
  const { decoded, requestId, span } = submission;
  const request = toOrderRequest(submission, toPendingOrder(decoded));
  const call = { timeoutMs: CHECK_DEADLINE_MS, requestId, span };
  return (await inClientTerms(decoded, tasks.checkOrder(request, call))).task;
}

async function sendOrder({ tasks }: SubmitOrderDeps, submission: Submission, order: Order): Promise<SubmittedTask> {
  submission.onSubmit();
  const { task, replayed, applied } = await inClientTerms(
    submission.decoded,
    tasks.createTask(toCreateRequest(submission, order), {
      timeoutMs: CREATE_DEADLINE_MS,
      requestId: submission.requestId,
      span: submission.span,
    }),
  );
  if (task === undefined) throw new Error('the tasks service answered without a task');
  return { task, replayed, applied: applied === undefined ? {} : fromWirePreference(applied) };
}

function toCreateRequest(
  { principal, decoded, annotations, idempotency, wait }: Submission,
  order: Order,
): CreateTaskRequest {
  const { webhookUrl = '', maxAmountNanos, currency = '' } = decoded.beside;
  return {
    $typeName: 'reelgate.tasks.v1.CreateTaskRequest',
    accountId: principal.accountId,
    tokenId: principal.tokenId,
    order,
    ...fillAnnotations(annotations),
    idempotencyKey: idempotency?.key ?? '',
    requestFingerprint: idempotency?.fingerprint ?? '',
    queue: wait && toWirePreference(wait),
    webhookUrl,
    maxAmountNanos,
    currency,
  } satisfies WholeCreateRequest;
}

type OrderRequest = Omit<CreateTaskRequest, keyof Message | keyof BesideOrder | AnnotationName> &
  Partial<BesideOrder> &
  Annotations;

/** Builds the request for an order. It has no models or limits: the tasks service reads them from the token. */
function toOrderRequest(
  { principal, decoded, annotations, idempotency, wait }: Omit<Submission, 'onSubmit'>,
  order: Order,
): OrderRequest {
  const { accountId, tokenId } = principal;
  return {
    ...decoded.beside,
    ...annotations,
    accountId,
    tokenId,
    order,
    idempotencyKey: idempotency?.key ?? '',
    requestFingerprint: idempotency?.fingerprint ?? '',
    ...(wait && { queue: toWirePreference(wait) }),
  };
}

/** Reports whether the tasks service may still be reading the bytes. */
function mayStillRun(error: unknown): boolean {
  return !(error instanceof Problem) || isUncertain(error);
}

async function removeStored({ media, log }: SubmitOrderDeps, objects: readonly string[]): Promise<void> {
  if (objects.length === 0) return;
  try {
    await media.remove(objects);
  } catch (error) {
    log.warn({ err: error }, 'the inline media of a create could not be removed; they expire by themselves');
  }
}

/** Returns the order with placeholders, so that it can be checked before its bytes are stored. */
export function toPendingOrder({ order, inline }: DecodedOrder): Order {
  return withObjects(order, new Map(inline.map(({ item }) => [item, PENDING_OBJECT])));
}

/** Awaits a call. A refusal then names the field as the client wrote it. */
export async function inClientTerms<T>({ clientField, describeRight }: FieldNames, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof Problem) || error.field === undefined) throw error;
    const { kind, reason, retryAfterMs, metadata, cause } = error;
    // a rule of the contract names the field with its whole path, and a client has its own fields among the others
    const name = error.field.replace(/^(?:order|queue)\./, '').replace(/^extra_json\./, '');
    const right = reason === 'unknown_field' ? describeRight?.(name) : undefined;
    const message = right === undefined ? error.message : `${error.message}; ${right}`;
    const field = readOwn(PREFERENCES, name) ?? clientField(name);
    throw new Problem({ kind, reason, message, retryAfterMs, metadata, field, cause });
  }
}

/** Stores one medium after another, because all at once could take the memory of many bodies. */
async function storeInline(
  media: InlineStore,
  { decoded, principal: { accountId } }: Submission,
  stored: Map<number, string>,
): Promise<void> {
  for (const medium of decoded.inline) {
    const { stream, bytesMax, fault } = openInlineStream(medium);
    try {
      const { object } = await media.put(stream, { accountId, bytesMax });
      stored.set(medium.item, object);
    } catch (error) {
      throw fault() ?? addField(error, medium.field);
    } finally {
      stream.destroy();
    }
  }
}

function addField(error: unknown, field: string): unknown {
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

/** The characters to decode at a time; a multiple of four. */
const STEP = 1 << 20;
const NOT_BASE64 = /[^A-Za-z0-9+/]/;
const WHITE_SPACE = /[\t\n\f\r ]/;
const WHITE_SPACES = /[\t\n\f\r ]+/g;

export interface InlineStream {
  readonly stream: Readable;
  /** The stream yields at most this many bytes. */
  readonly bytesMax: number;
  /** Set once the text proves not to be base64, which ends the stream with an error. */
  readonly fault: () => Problem | undefined;
}

/** Streams the bytes of an inline medium. It decodes base64 only as fast as the reader consumes it. */
export function openInlineStream({ bytes, field }: InlineMedia): InlineStream {
  if ('chunks' in bytes) {
    return {
      stream: Readable.from(bytes.chunks, { objectMode: false }),
      bytesMax: bytes.chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0),
      fault: () => undefined,
    };
  }
  let fault: Problem | undefined;
  const refuseText = (message: string): Problem => (fault = refuse('invalid_media', { field, message }));
  return {
    stream: Readable.from(decodeBase64(bytes.base64, refuseText), { objectMode: false }),
    bytesMax: Math.ceil(bytes.base64.length / 4) * 3,
    fault: () => fault,
  };
}

/** Ignores white space in base64, as browsers do. */
function* decodeBase64(written: string, refuseText: (message: string) => Problem): Generator<Buffer> {
  const text = WHITE_SPACE.test(written) ? written.replace(WHITE_SPACES, '') : written;
  const length = text.length - countPadding(text);
  if (length === 0) throw refuseText('must not be empty');
  if (length % 4 === 1) throw refuseText('must be complete base64; it is truncated');
  for (let at = 0; at < length; at += STEP) {
    const part = text.slice(at, Math.min(length, at + STEP));
    if (NOT_BASE64.test(part)) throw refuseText('must be base64 (A-Z a-z 0-9 + /)');
    yield Buffer.from(part, 'base64');
  }
}

function countPadding(text: string): number {
  if (text.endsWith('==')) return 2;
  return text.endsWith('=') ? 1 : 0;
}
