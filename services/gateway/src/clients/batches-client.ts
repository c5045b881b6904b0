import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { Client } from '@reelgate/platform/rpc/service';
import { BatchStatus as WireStatus } from '@reelgate/proto/tasks/v1/batch';
import type {
  Batch as WireBatch,
  BatchFault as WireFault,
  BatchLine as WireLine,
} from '@reelgate/proto/tasks/v1/batch';
import { BatchWork } from '@reelgate/proto/tasks/v1/batch_service';
import type { AppendBatchLinesRequestSchema, BatchService } from '@reelgate/proto/tasks/v1/batch_service';
import type { Order } from '@reelgate/proto/tasks/v1/order';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import { fromWireJob, toWireCall } from './jobs-client.ts';
import type { Job, JobCall } from './jobs-client.ts';
import { requireValue } from './wire-values.ts';

const MS = 1000;

export type BatchStatus = EnumWord<typeof WireStatus>;

const STATUSES = deriveWords(WireStatus, 'in_progress');

/** A reason for which a file is refused, or a line has no task. */
export interface BatchFault {
  readonly code: string;
  readonly message: string;
  /** Counted from 1, undefined if the fault concerns no single line. */
  readonly line: number | undefined;
  readonly param: string | undefined;
}

/** A batch. Times are milliseconds since 1970. */
export interface Batch {
  readonly id: string;
  readonly accountId: string;
  readonly endpoint: string;
  readonly inputFileId: string;
  readonly status: BatchStatus;
  readonly model: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly counts: { readonly total: number; readonly completed: number; readonly failed: number };
  /** The sum of the charges of its lines so far, undefined while no line is settled. */
  readonly charge: { readonly nanos: bigint; readonly currency: string; readonly isFinal: boolean } | undefined;
  readonly faults: readonly BatchFault[];
  readonly outputFileId: string | undefined;
  readonly errorFileId: string | undefined;
  readonly createdAt: number;
  readonly inProgressAt: number | undefined;
  readonly expiresAt: number | undefined;
  readonly finalizingAt: number | undefined;
  readonly cancellingAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly outputLifetimeMs: number | undefined;
}

export interface NewBatch {
  readonly accountId: string;
  readonly tokenId: string;
  readonly endpoint: string;
  readonly inputFileId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly outputLifetimeMs: number | undefined;
  /** The label of the work of its lines, undefined for the label of its token. */
  readonly label: string | undefined;
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | undefined;
}

/** A call of a line, which is sent later. */
export interface LineCall {
  readonly call: JobCall;
  readonly isRepeatable: boolean;
}

/** A line as the reader of a file understood it. */
export interface NewLine {
  /** From 1, as in the file. */
  readonly number: number;
  readonly customId: string;
  readonly body: LineOrder | LineCall | { readonly fault: BatchFault };
}

export interface LineOrder {
  readonly order: Order;
  /** The client's names for fields of the order, where they differ. */
  readonly names: Readonly<Record<string, string>>;
}

/** A line that has ended. */
export interface EndedLine {
  readonly number: number;
  readonly customId: string;
  readonly end: { readonly task: Task } | { readonly job: Job } | { readonly fault: BatchFault };
}

export interface BatchLease {
  readonly batchId: string;
  readonly lease: string;
}

/** A batch that this process reads or writes until the lease ends. */
export interface LeasedBatch {
  readonly lease: BatchLease;
  readonly work: 'read' | 'write';
  readonly batch: Batch;
  /** The id of the request that created it. */
  readonly requestId: string;
}

/** The batches of the tasks service, in the gateway's types. */
export interface Batches {
  create(batch: NewBatch, caller: Caller): Promise<{ readonly batch: Batch; readonly replayed: boolean }>;
  get(accountId: string, batchId: string, caller: Caller): Promise<Batch>;
  list(
    page: { readonly accountId: string; readonly limit: number; readonly after: string | undefined },
    caller: Caller,
  ): Promise<{ readonly batches: readonly Batch[]; readonly hasMore: boolean }>;
  cancel(accountId: string, batchId: string, caller: Caller): Promise<Batch>;
  /** Returns undefined if no batch is due. */
  lease(): Promise<LeasedBatch | undefined>;
  /** Returns false if the reader must stop. It extends the lease. */
  append(lease: BatchLease, lines: readonly NewLine[]): Promise<boolean>;
  /** With faults the batch fails. */
  finishRead(
    lease: BatchLease,
    read: { readonly model: string; readonly faults: readonly BatchFault[] },
  ): Promise<boolean>;
  /** Returns the next lines and extends the lease. Returns undefined if the writer must stop. */
  listLines(
    lease: BatchLease,
    page: { readonly after: number; readonly limit: number; readonly withTask: boolean },
  ): Promise<readonly EndedLine[] | undefined>;
  finish(
    lease: BatchLease,
    files: { readonly outputFileId: string | undefined; readonly errorFileId: string | undefined },
  ): Promise<boolean>;
  giveBack(lease: BatchLease, delayMs: number): Promise<void>;
}

export type BatchesRpc = Client<typeof BatchService>;

export function batchesClient(rpc: BatchesRpc): Batches {
  return { ...ownersCalls(rpc), ...workersCalls(rpc) };
}

function ownersCalls(rpc: BatchesRpc): Pick<Batches, 'create' | 'get' | 'list' | 'cancel'> {
  return {
    create: async ({ idempotency, outputLifetimeMs = 0, label = '', ...batch }, caller) => {
      const created = await rpc.createBatch(
        {
          ...batch,
          label,
          outputExpiresAfterSeconds: BigInt(Math.round(outputLifetimeMs / MS)),
          idempotencyKey: idempotency?.key ?? '',
          requestFingerprint: idempotency?.fingerprint ?? '',
        },
        withDeadline(caller),
      );
      return { batch: fromWireBatch(requireValue(created.batch)), replayed: created.replayed };
    },
    get: async (accountId, batchId, caller) =>
      fromWireBatch(requireValue((await rpc.getBatch({ accountId, batchId }, withDeadline(caller))).batch)),
    list: async ({ after = '', ...page }, caller) => {
      const { batches, hasMore } = await rpc.listBatches({ ...page, after }, withDeadline(caller));
      return { batches: batches.map(fromWireBatch), hasMore };
    },
    cancel: async (accountId, batchId, caller) =>
      fromWireBatch(requireValue((await rpc.cancelBatch({ accountId, batchId }, withDeadline(caller))).batch)),
  };
}

function workersCalls(rpc: BatchesRpc): Omit<Batches, 'create' | 'get' | 'list' | 'cancel'> {
  return {
    lease: async () => {
      const { lease, work, batch, requestId } = await rpc.leaseBatch({}, withDeadline({}));
      if (lease === undefined) return undefined;
      return {
        lease: { batchId: lease.batchId, lease: lease.lease },
        work: work === BatchWork.WRITE ? 'write' : 'read',
        batch: fromWireBatch(requireValue(batch)),
        requestId,
      };
    },
    append: async (lease, lines) =>
      (await rpc.appendBatchLines({ lease, lines: lines.map(toWireLine) }, withDeadline({}))).stored,
    finishRead: async (lease, { model, faults }) =>
      (await rpc.finishBatchRead({ lease, model, faults: faults.map(toWireFault) }, withDeadline({}))).finished,
    listLines: async (lease, page) => {
      const { lines, held } = await rpc.listBatchLines({ lease, ...page }, withDeadline({}));
      if (!held) return undefined;
      return lines.map(({ number, customId, end }) => ({
        number,
        customId,
        end: fromWireEnd(end),
      }));
    },
    finish: async (lease, { outputFileId = '', errorFileId = '' }) =>
      (await rpc.finishBatch({ lease, outputFileId, errorFileId }, withDeadline({}))).finished,
    giveBack: async (lease, delayMs) => {
      await rpc.returnBatch({ lease, delayMs: BigInt(Math.round(delayMs)) }, withDeadline({}));
    },
  };
}

type WireNewLine = NonNullable<MessageInitShape<typeof AppendBatchLinesRequestSchema>['lines']>[number];

function toWireLine({ number, customId, body }: NewLine): WireNewLine {
  return {
    number,
    customId,
    body: toWireBody(body),
    fieldNames: 'order' in body ? { ...body.names } : {},
  };
}

function toWireBody(body: NewLine['body']): NonNullable<WireNewLine['body']> {
  if ('order' in body) return { case: 'order', value: body.order };
  if ('fault' in body) return { case: 'fault', value: toWireFault(body.fault) };
  return { case: 'call', value: { call: toWireCall(body.call), repeatable: body.isRepeatable } };
}

function fromWireEnd(end: WireLine['end']): EndedLine['end'] {
  if (end.case === 'task') return { task: end.value };
  if (end.case === 'job') return { job: fromWireJob(end.value) };
  return { fault: fromWireFault(requireValue(end.value)) };
}

function toWireFault({ code, message, line = 0, param = '' }: BatchFault) {
  return { code, message, line, param };
}

function fromWireFault({ code, message, line, param }: WireFault): BatchFault {
  return { code, message, line: line === 0 ? undefined : line, param: param === '' ? undefined : param };
}

function fromWireBatch(wire: WireBatch): Batch {
  const { total, completed, failed, outputExpiresAfterSeconds, chargedNanos, currency, chargesOpen } = wire;
  const toMs = (time: WireBatch['endedAt']): number | undefined => time && timestampMs(time);
  return {
    id: wire.id,
    accountId: wire.accountId,
    endpoint: wire.endpoint,
    inputFileId: wire.inputFileId,
    status: STATUSES[wire.status],
    model: wire.model === '' ? undefined : wire.model,
    metadata: wire.metadata,
    counts: { total, completed, failed },
    charge: currency === '' ? undefined : { nanos: chargedNanos, currency, isFinal: !chargesOpen },
    faults: wire.faults.map(fromWireFault),
    outputFileId: wire.outputFileId === '' ? undefined : wire.outputFileId,
    errorFileId: wire.errorFileId === '' ? undefined : wire.errorFileId,
    createdAt: timestampMs(requireValue(wire.createdAt)),
    inProgressAt: toMs(wire.inProgressAt),
    expiresAt: toMs(wire.expiresAt),
    finalizingAt: toMs(wire.finalizingAt),
    cancellingAt: toMs(wire.cancellingAt),
    endedAt: toMs(wire.endedAt),
    outputLifetimeMs: outputExpiresAfterSeconds === 0n ? undefined : Number(outputExpiresAfterSeconds) * MS,
  };
}
