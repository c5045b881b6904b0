import { BatchSchema } from '@reelgate/proto/tasks/v1/batch';
import { assertNoWords, defineCommand, readSingleId } from '../command.ts';
import { limitOption, readLimit } from '../format/list-options.ts';
import { WIDE_OPTION, listColumns, toListOutcome } from '../format/table.ts';

const PAGE_LIMIT = { most: 100, usual: 20 };
const ACCOUNT_OPTION = { value: 'ID', means: 'the account of the batch', needed: true } as const;

const COLUMNS = listColumns(BatchSchema, [
  'id',
  'status',
  'createdAt',
  { field: 'total', title: 'LINES' },
  'completed',
  'failed',
  { field: 'endpoint', shrinks: true },
  { field: 'model', shrinks: true },
  { field: 'endedAt', isWide: true },
]);

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
    const answer = await services.batches.listBatches(page);
    return toListOutcome(answer, answer.batches, COLUMNS, { terminal, options });
  },
});

export const batchShow = defineCommand({
  summary: 'show a batch with its counters and its files',
  words: 'ID',
  options: { account: ACCOUNT_OPTION },
  example: 'batch show batch_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo',
  run: async ({ services, words, options: { account = '' } }) => {
    const batchId = readSingleId(words, 'batch');
    return { answer: await services.batches.getBatch({ accountId: account, batchId }) };
  },
});

export const batchCancel = defineCommand({
  summary: 'start no further line of a batch; lines that run end by themselves',
  words: 'ID',
  options: { account: ACCOUNT_OPTION },
  example: 'batch cancel batch_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo',
  run: async ({ services, words, options: { account = '' } }) => {
    const batchId = readSingleId(words, 'batch');
    return { answer: await services.batches.cancelBatch({ accountId: account, batchId }) };
  },
});
