import { FilePurpose } from '@reelgate/proto/media/v1/file_service';
import type { BatchFault, BatchLine } from '@reelgate/proto/tasks/v1/batch';
import type { BatchLease } from '@reelgate/proto/tasks/v1/batch_service';
import { withDeadline } from '../clients/caller.ts';
import { requireValue } from '../clients/wire-values.ts';
import type { Links } from '../dialects/dialect.ts';
import { isSettled } from '../domain/charge.ts';
import type { Charge } from '../domain/charge.ts';
import type { Task } from '../clients/tasks-client.ts';
import type { ChargeReader } from '../operations/read-charge.ts';
import type { BatchEndpoint } from './batch-endpoints.ts';
import type { BatchWorkDeps, LeasedBatch } from './read-batch.ts';

/** The lines that are in memory at once. */
const PAGE_LINES = 200;
/** The bytes of one write to a file. */
const PIECE_BYTES = 256 * 1024;

/** The tasks whose charges are read with one call. */
const CHARGES_MAX = 100;
/** The last tasks of a batch are settled a moment after their end. */
const SETTLE = { tries: 10, apartMs: 300 };

export interface BatchWriteDeps extends BatchWorkDeps {
  readonly links: Links;
  readonly charges: ChargeReader;
}

/** Another process writes the files now. */
class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * Writes the files of the results of a batch and ends it. The key of a file is that of its batch, so a write that is
 * repeated after a crash leaves one file.
 */
export async function writeBatch(deps: BatchWriteDeps, leased: LeasedBatch, signal: AbortSignal): Promise<void> {
  const { batches } = deps;
  try {
    const outputFileId = await writeFile(deps, leased, { name: 'output', withTask: true, signal });
    const errorFileId = await writeFile(deps, leased, { name: 'error', withTask: false, signal });
    await batches.finishBatch({ lease: leased.lease, outputFileId, errorFileId }, withDeadline({}));
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
  }
}

interface ResultFile {
  readonly name: 'output' | 'error';
  readonly withTask: boolean;
  readonly signal: AbortSignal;
}

/** Returns the id of the file, empty if no line belongs into it. */
async function writeFile(deps: BatchWriteDeps, leased: LeasedBatch, file: ResultFile): Promise<string> {
  const { batch } = leased;
  const endpoint = deps.endpoints.get(batch.endpoint);
  if (endpoint === undefined) throw new Error(`no route has the endpoint of ${batch.id}`);
  const first = await listPage(deps, leased.lease, 0, file.withTask);
  if (first.length === 0) return '';
  const lifetimeMs = Number(batch.outputExpiresAfterSeconds) * 1000;
  const written = await deps.files.write(
    {
      accountId: batch.accountId,
      key: `${batch.id} ${file.name}`,
      filename: `${batch.id}_${file.name}.jsonl`,
      purpose: FilePurpose.BATCH_OUTPUT,
      lifetimeMs: lifetimeMs || undefined,
    },
    encodeLines(deps, leased, { first, endpoint, file }),
  );
  return written.id;
}

async function listPage(
  { batches }: BatchWriteDeps,
  lease: BatchLease,
  after: number,
  withTask: boolean,
): Promise<readonly BatchLine[]> {
  const { lines, held } = await batches.listBatchLines({ lease, after, limit: PAGE_LINES, withTask }, withDeadline({}));
  if (!held) throw new LeaseLost('another process has the batch');
  return lines;
}

interface EncodeOptions {
  readonly first: readonly BatchLine[];
  readonly endpoint: BatchEndpoint;
  readonly file: ResultFile;
}

async function* encodeLines(
  deps: BatchWriteDeps,
  leased: LeasedBatch,
  { first, endpoint, file }: EncodeOptions,
): AsyncGenerator<Buffer> {
  const readCharges = openCharges(deps, leased);
  let page = first;
  while (page.length > 0) {
    file.signal.throwIfAborted();
    const charges = await readCharges(page);
    yield* joinPieces(encodePage(deps, leased, endpoint, { lines: page, charges }));
    page = await listPage(deps, leased.lease, page.at(-1)?.number ?? 0, file.withTask);
  }
}

/** Joins short pieces, so that each of them is no write of its own. */
async function* joinPieces(pieces: AsyncIterable<string | Buffer>): AsyncGenerator<Buffer> {
  let joined: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    const part = typeof piece === 'string' ? Buffer.from(piece) : piece;
    joined.push(part);
    bytes += part.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(joined);
    [joined, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(joined);
}

interface ChargedPage {
  readonly lines: readonly BatchLine[];
  readonly charges: ReadonlyMap<string, Charge>;
}

async function* encodePage(
  { links, media }: BatchWriteDeps,
  { batch, requestId }: LeasedBatch,
  endpoint: BatchEndpoint,
  { lines, charges }: ChargedPage,
): AsyncGenerator<string | Buffer> {
  for (const { number, customId, end } of lines) {
    const head = JSON.stringify({ id: `${batch.id}_${number}`, custom_id: customId }).slice(0, -1);
    const answer =
      end.case === 'task' || end.case === 'job'
        ? await endpoint.encode(end, { links, media, charges })
        : { error: explainFault(endpoint, requireValue(end.value)) };
    if ('error' in answer) {
      const { code, message } = answer.error;
      yield `${head},"response":null,"error":${JSON.stringify({ code, message })}}\n`;
      continue;
    }
    const { statusCode, body } = answer;
    const response = JSON.stringify({ status_code: statusCode, request_id: requestId }).slice(0, -1);
    yield `${head},"response":${response},"body":`;
    if (Symbol.asyncIterator in body) yield* body;
    else yield JSON.stringify(body);
    yield '},"error":null}\n';
  }
}

function explainFault({ explain }: BatchEndpoint, fault: BatchFault): BatchFault {
  return explain?.(fault) ?? fault;
}

type ReadCharges = (page: readonly BatchLine[]) => Promise<ReadonlyMap<string, Charge>>;

/**
 * Reads what the tasks of a page were charged, if it is known within some seconds. After the first page for which it is
 * not, no page waits: billing is away.
 */
function openCharges({ charges, clock }: BatchWriteDeps, { batch, requestId }: LeasedBatch): ReadCharges {
  const caller = { accountId: batch.accountId, requestId };
  let tries: number = SETTLE.tries;
  return async (page) => {
    const tasks = page.flatMap(({ end }) => (end.case === 'task' ? [end.value] : []));
    const found = new Map<string, Charge>();
    const listOpen = (): readonly Task[] =>
      tasks.filter(({ id }) => {
        const charge = found.get(id);
        return charge === undefined || !isSettled(charge);
      });
    for (let attempt = 1, open = listOpen(); open.length > 0 && attempt <= tries; attempt += 1, open = listOpen()) {
      if (attempt > 1) await clock.sleep(SETTLE.apartMs);
      for (let from = 0; from < open.length; from += CHARGES_MAX)
        for (const [id, charge] of await charges.readAll(open.slice(from, from + CHARGES_MAX), caller))
          found.set(id, charge);
    }
    if (listOpen().length > 0) tries = 1;
    return found;
  };
}
