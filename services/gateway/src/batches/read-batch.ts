import { create } from '@bufbuild/protobuf';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Client } from '@reelgate/platform/rpc/service';
import { BatchFaultSchema } from '@reelgate/proto/tasks/v1/batch';
import type { Batch, BatchLineInput } from '@reelgate/proto/tasks/v1/batch';
import type { BatchLease, BatchService, LeaseBatchResponse } from '@reelgate/proto/tasks/v1/batch_service';
import { withDeadline } from '../clients/caller.ts';
import type { ClientFiles } from '../clients/client-files.ts';
import type { ByteReader, PrivateStore } from '../clients/media-port.ts';
import type { Models } from '../domain/model-defaults.ts';
import { BODY_KEEP_MS, keepBytes } from '../jobs/job-bytes.ts';
import type { BatchEndpoint } from './batch-endpoints.ts';
import { BATCH_FAULTS_MAX, LINE_BYTES_MAX, lineChecker, splitLines } from './check-line.ts';

/** The lines that are stored at once: a step short enough that other calls do not notice it. */
const STEP_LINES = 32;
/** Lines with long bodies are stored earlier. */
const STEP_BYTES = 256 * 1024;
/** The time between the begins of two steps, so that a large file leaves room for others: about 1,000 lines a second. */
const STEP_APART_MS = 30;

/** A batch that this process reads or writes until the lease ends. */
export type LeasedBatch = LeaseBatchResponse & { readonly lease: BatchLease; readonly batch: Batch };

export interface BatchWorkDeps {
  readonly batches: Client<typeof BatchService>;
  readonly files: ClientFiles;
  readonly media: PrivateStore & ByteReader;
  readonly endpoints: ReadonlyMap<string, BatchEndpoint>;
  readonly models: () => Models;
  readonly clock: Clock;
  readonly log: Log;
}

const PARAM = 'input_file_id';
const GONE = create(BatchFaultSchema, {
  code: 'invalid_file',
  message: 'the input file was deleted or has expired',
  param: PARAM,
});
const EMPTY = create(BatchFaultSchema, { code: 'empty_file', message: 'the input file has no lines', param: PARAM });

/**
 * Reads the file of a batch and stores its lines, or refuses it. It holds one step of lines at a time. If the process
 * dies, another one begins again: lines that are stored already stay as they are.
 */
export async function readBatch(deps: BatchWorkDeps, leased: LeasedBatch, signal: AbortSignal): Promise<void> {
  const { batches, files } = deps;
  const { lease, batch } = leased;
  const file = await files.read(batch.accountId, batch.inputFileId, signal);
  const endpoint = deps.endpoints.get(batch.endpoint);
  if (file === undefined || endpoint === undefined) {
    await batches.finishBatchRead({ lease, faults: [GONE] }, withDeadline({}));
    return;
  }
  const checker = lineChecker(endpoint, deps.models());
  const isRead = await storeLines(deps, leased, { lines: splitLines(file, LINE_BYTES_MAX), checker, signal });
  if (isRead === 'stopped') return;
  const faults = isRead === 'empty' && checker.faults.length === 0 ? [EMPTY] : checker.faults;
  const read = { lease, model: checker.model(), faults: faults.slice(0, BATCH_FAULTS_MAX) };
  await batches.finishBatchRead(read, withDeadline({}));
}

interface LineSource {
  readonly lines: ReturnType<typeof splitLines>;
  readonly checker: ReturnType<typeof lineChecker>;
  readonly signal: AbortSignal;
}

/** Returns `stopped` if the batch was cancelled or another process reads it. */
async function storeLines(
  deps: BatchWorkDeps,
  { lease, batch }: LeasedBatch,
  { lines, checker, signal }: LineSource,
): Promise<'read' | 'empty' | 'stopped'> {
  const { batches, clock } = deps;
  let step: BatchLineInput[] = [];
  let bytes = 0;
  let isEmpty = true;
  let beganAt = clock.now();
  const store = async (): Promise<boolean> => {
    const { stored } = await batches.appendBatchLines({ lease, lines: step }, withDeadline({}));
    step = [];
    bytes = 0;
    await clock.sleep(Math.max(1, STEP_APART_MS - (clock.now() - beganAt)), signal);
    beganAt = clock.now();
    return stored;
  };
  for await (const line of lines) {
    signal.throwIfAborted();
    const checked = checker.check(line);
    if (checker.faults.length >= BATCH_FAULTS_MAX) return 'read';
    if (checked === undefined) continue;
    isEmpty = false;
    // the batch fails already
    if (checker.faults.length > 0) continue;
    step.push(await keepBody(deps, batch.accountId, checked));
    bytes += line.bytes?.length ?? 0;
    if ((step.length >= STEP_LINES || bytes >= STEP_BYTES) && !(await store())) return 'stopped';
  }
  if (step.length > 0 && !(await store())) return 'stopped';
  return isEmpty ? 'empty' : 'read';
}

/** Keeps a long body of a call as a private object, so that messages between services stay small. */
async function keepBody({ media }: BatchWorkDeps, accountId: string, line: BatchLineInput): Promise<BatchLineInput> {
  const call = line.body.case === 'call' ? line.body.value.call : undefined;
  if (call?.body.case === 'inline')
    call.body = await keepBytes(media, Buffer.from(call.body.value), { accountId, keepMs: BODY_KEEP_MS });
  return line;
}
