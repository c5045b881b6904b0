import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { BatchStatus } from '@reelgate/proto/tasks/v1/batch';
import type { Batch } from '@reelgate/proto/tasks/v1/batch';
import { assertNoWords, defineCommand, readSingleId } from '../command.ts';
import { limitOption, readLimit } from '../format/list-options.ts';
import { WIDE_OPTION, toListOutcome } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { emptyToUndefined } from '../format/task-record.ts';
import { isoTime, relativeTime } from '../format/times.ts';

const PAGE_LIMIT = { most: 100, usual: 20 };
const ACCOUNT_OPTION = { value: 'ID', means: 'the account of the batch', needed: true } as const;

const STATUSES = deriveWords(BatchStatus, '');

const COLUMNS: readonly Column<Batch>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATUS', of: ({ status }) => STATUSES[status] },
  { title: 'CREATED', of: ({ createdAt }) => relativeTime(createdAt) },
  { title: 'LINES', of: ({ total }) => String(total) },
  { title: 'COMPLETED', of: ({ completed }) => String(completed) },
  { title: 'FAILED', of: ({ failed }) => String(failed) },
  { title: 'ENDPOINT', of: ({ endpoint }) => endpoint, shrinks: true },
  { title: 'MODEL', of: ({ model }) => model, shrinks: true },
  { title: 'CREATED AT', of: ({ createdAt }) => isoTime(createdAt) ?? '', isWide: true },
  { title: 'ENDED AT', of: ({ endedAt }) => isoTime(endedAt) ?? '', isWide: true },
];

function toBatchJson(batch: Batch | undefined): object {
  if (batch === undefined) return {};
  const { total, completed, failed } = batch;
  return {
    id: batch.id,
    account: batch.accountId,
    status: STATUSES[batch.status],
    endpoint: batch.endpoint,
    model: emptyToUndefined(batch.model),
    lines: { total, completed, failed },
    metadata: batch.metadata,
    faults: batch.faults.map(({ code, message, line }) => ({ code, message, line: line === 0 ? undefined : line })),
    input_file: batch.inputFileId,
    output_file: emptyToUndefined(batch.outputFileId),
    error_file: emptyToUndefined(batch.errorFileId),
    created_at: isoTime(batch.createdAt),
    in_progress_at: isoTime(batch.inProgressAt),
    expires_at: isoTime(batch.expiresAt),
    finalizing_at: isoTime(batch.finalizingAt),
    cancelling_at: isoTime(batch.cancellingAt),
    ended_at: isoTime(batch.endedAt),
  };
}

export const batchList = defineCommand({
  summary: 'list the batches of an account, newest first',
  words: '',
  options: {
    account: { value: 'ID', means: 'the account', needed: true },
    limit: limitOption(PAGE_LIMIT),
    after: { value: 'ID', means: 'continue after this id, for the next page' },
    wide: WIDE_OPTION,
  },
  example: 'batch list --account demo',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const { account = '', limit, after = '' } = options;
    const page = { accountId: account, limit: readLimit(limit, PAGE_LIMIT), after };
    const { batches } = await services.batches.listBatches(page);
    return toListOutcome(batches, toBatchJson, COLUMNS, { terminal, options });
  },
});

export const batchShow = defineCommand({
  summary: 'show a batch with its counters and its files',
  words: 'ID',
  options: { account: ACCOUNT_OPTION },
  example: 'batch show batch_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo',
  run: async ({ services, words, options: { account = '' } }) => {
    const batchId = readSingleId(words, 'batch');
    return { answer: toBatchJson((await services.batches.getBatch({ accountId: account, batchId })).batch) };
  },
});

export const batchCancel = defineCommand({
  summary: 'begin no further line of a batch; what has begun ends by itself',
  words: 'ID',
  options: { account: ACCOUNT_OPTION },
  example: 'batch cancel batch_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo',
  run: async ({ services, words, options: { account = '' } }) => {
    const batchId = readSingleId(words, 'batch');
    return { answer: toBatchJson((await services.batches.cancelBatch({ accountId: account, batchId })).batch) };
  },
});
