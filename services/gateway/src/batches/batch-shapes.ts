import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { BatchStatus } from '@reelgate/proto/tasks/v1/batch';
import type { Batch, BatchFault } from '@reelgate/proto/tasks/v1/batch';
import type { QueryParameter } from '../dialects/dialect.ts';
import { pageSchema } from '../dialects/wire/list-page.ts';
import { toUnixSeconds } from '../dialects/wire/task-fields.ts';
import { objectSchema } from '../domain/schema.ts';
import type { Properties, Schema, TypeOf } from '../domain/schema.ts';
import { bodyValidator } from '../dialects/wire/body-validator.ts';
import { formatDecimal } from '../domain/decimal.ts';
import { BATCH_PATHS, PRICED_PATHS } from './batch-endpoints.ts';

const WINDOW = '24h';
const METADATA = { members: 16, characters: 512 };
const OUTPUT_SECONDS = { min: 3600, max: 2_592_000 };
const LIMIT = { min: 1, max: 100, fallback: 20 };

const text = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const whole = { type: 'integer' } as const;
const secondsOrNull = { title: 'TimeOrNull', type: ['integer', 'null'], description: 'Unix seconds.' } as const;

const metadata = {
  type: ['object', 'null'],
  maxProperties: METADATA.members,
  additionalProperties: { type: 'string', maxLength: METADATA.characters },
} as const satisfies Schema;

const createProperties = {
  input_file_id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
  endpoint: { enum: BATCH_PATHS },
  completion_window: { const: WINDOW },
  metadata: {
    ...metadata,
    description: 'Texts of the client. `max_amount` bounds what the lines of `/v1/videos` may cost together.',
  },
  output_expires_after: {
    type: ['object', 'null'],
    required: ['anchor', 'seconds'],
    additionalProperties: false,
    properties: {
      anchor: { const: 'created_at' },
      seconds: { type: 'integer', minimum: OUTPUT_SECONDS.min, maximum: OUTPUT_SECONDS.max },
    },
  },
} as const satisfies Properties;

const BATCH_CREATE = {
  type: 'object',
  required: ['input_file_id', 'endpoint', 'completion_window'],
  additionalProperties: false,
} as const;

export const BATCH_BODY = { title: 'BatchCreate', ...BATCH_CREATE, properties: createProperties } as const;

/** The body of an estimate: the price of a call is known only after it. */
export const BATCH_ESTIMATE_BODY: Schema = {
  title: 'BatchEstimateBody',
  ...BATCH_CREATE,
  properties: { ...createProperties, endpoint: { enum: PRICED_PATHS } },
};

export type BatchBody = TypeOf<typeof BATCH_BODY>;

export const decodeBatch = bodyValidator(BATCH_BODY);

export const BATCH_LIST_PARAMETERS: readonly QueryParameter[] = [
  {
    name: 'limit',
    description: 'The number of batches on a page.',
    schema: { type: 'integer', minimum: LIMIT.min, maximum: LIMIT.max, default: LIMIT.fallback },
  },
  {
    name: 'after',
    description: 'Start after this batch.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{0,64}$' },
  },
];

export const BATCH_LIMIT = LIMIT;

const errors = {
  type: ['object', 'null'],
  required: ['object', 'data'],
  additionalProperties: false,
  properties: {
    object: { const: 'list' },
    data: {
      type: 'array',
      items: {
        type: 'object',
        required: ['code', 'message', 'line', 'param'],
        additionalProperties: false,
        properties: { code: text, message: text, line: { type: ['integer', 'null'] }, param: textOrNull },
      },
    },
  },
} as const satisfies Schema;

const properties = {
  id: text,
  object: { const: 'batch' },
  endpoint: text,
  model: textOrNull,
  errors: { ...errors, description: 'Why the file was refused.' },
  input_file_id: text,
  completion_window: { const: WINDOW },
  status: {
    enum: ['validating', 'failed', 'in_progress', 'finalizing', 'completed', 'expired', 'cancelling', 'cancelled'],
  },
  output_file_id: textOrNull,
  error_file_id: textOrNull,
  created_at: { ...whole, description: 'Unix seconds.' },
  in_progress_at: secondsOrNull,
  expires_at: secondsOrNull,
  finalizing_at: secondsOrNull,
  completed_at: secondsOrNull,
  failed_at: secondsOrNull,
  expired_at: secondsOrNull,
  cancelling_at: secondsOrNull,
  cancelled_at: secondsOrNull,
  request_counts: {
    type: 'object',
    required: ['total', 'completed', 'failed'],
    additionalProperties: false,
    properties: { total: whole, completed: whole, failed: whole },
  },
  metadata,
  charge: {
    type: ['object', 'null'],
    description: 'What the lines were charged so far. Null while no line is settled.',
    required: ['state', 'amount', 'currency'],
    additionalProperties: false,
    properties: {
      state: { enum: ['open', 'final'], description: '`open`: more can be charged. `final`: it stays as it is.' },
      amount: { type: 'string', description: 'An exact decimal.' },
      currency: { type: 'string', description: 'ISO 4217.' },
    },
  },
} as const satisfies Properties;

export const BATCH_ANSWER = { title: 'Batch', ...objectSchema(properties) } as const;
export type BatchAnswer = TypeOf<typeof BATCH_ANSWER>;

const estimateProperties = {
  object: { const: 'batch.estimate' },
  endpoint: text,
  model: text,
  amount: { type: 'string', description: 'What the lines would cost together, an exact decimal.' },
  max_amount: { type: 'string', description: 'The least `metadata.max_amount` that covers every line.' },
  currency: { type: 'string', description: 'ISO 4217.' },
  request_counts: {
    type: 'object',
    description: 'Refused lines would end with an error, and cost nothing.',
    required: ['total', 'priced', 'refused'],
    additionalProperties: false,
    properties: { total: whole, priced: whole, refused: whole },
  },
  errors: {
    ...errors,
    description: 'Why lines would be refused, at most 20; one for lines that differ in words only.',
  },
} as const satisfies Properties;

export const BATCH_ESTIMATE_ANSWER = { title: 'BatchEstimate', ...objectSchema(estimateProperties) } as const;

export const BATCH_PAGE_ANSWER = pageSchema('BatchPage', BATCH_ANSWER);

const STATUSES = deriveWords(BatchStatus, 'in_progress');

/** Encodes a batch as OpenAI's clients read it. */
export function encodeBatch(batch: Batch): BatchAnswer {
  const { status, total, completed, failed } = batch;
  const toSeconds = (time: Timestamp | undefined): number | null => toUnixSeconds(time) ?? null;
  const toEnd = (end: BatchStatus): number | null => (status === end ? toSeconds(batch.endedAt) : null);
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    model: batch.model || null,
    errors: encodeFaults(batch.faults),
    input_file_id: batch.inputFileId,
    completion_window: WINDOW,
    status: STATUSES[status],
    output_file_id: batch.outputFileId || null,
    error_file_id: batch.errorFileId || null,
    created_at: toUnixSeconds(batch.createdAt) ?? 0,
    in_progress_at: toSeconds(batch.inProgressAt),
    expires_at: toSeconds(batch.expiresAt),
    finalizing_at: toSeconds(batch.finalizingAt),
    cancelling_at: toSeconds(batch.cancellingAt),
    completed_at: toEnd(BatchStatus.COMPLETED),
    failed_at: toEnd(BatchStatus.FAILED),
    expired_at: toEnd(BatchStatus.EXPIRED),
    cancelled_at: toEnd(BatchStatus.CANCELLED),
    request_counts: { total, completed, failed },
    metadata: Object.keys(batch.metadata).length === 0 ? null : batch.metadata,
    charge: encodeBatchCharge(batch),
  };
}

/** Encodes reasons as a list of OpenAI's clients; null if there are none. */
export function encodeFaults(faults: readonly BatchFault[]): TypeOf<typeof errors> {
  if (faults.length === 0) return null;
  const data = faults.map(({ code, message, line, param }) => ({
    ...{ code, message },
    line: line || null,
    param: param || null,
  }));
  return { object: 'list', data };
}

function encodeBatchCharge({ chargedNanos, currency, chargesOpen }: Batch): BatchAnswer['charge'] {
  if (currency === '') return null;
  return { state: chargesOpen ? 'open' : 'final', amount: formatDecimal(chargedNanos), currency };
}
