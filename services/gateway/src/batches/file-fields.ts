import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { FilePurpose } from '@reelgate/proto/media/v1/file_service';
import type { QueryParameter } from '../dialects/dialect.ts';
import type { Schema } from '../domain/schema.ts';
import { invalid } from '../dialects/wire/body-validator.ts';
import { readEnumValue, readWholeNumber } from '../dialects/wire/query-values.ts';
import { PLAUSIBLE_ID } from '../http/routes/task-id.ts';

/** The bounds of OpenAI's contract. A page has at most PAGE_MAX entries, whatever was asked for. */
const LIMIT = { min: 1, max: 10_000, fallback: 10_000 };
const PAGE_MAX = 1000;
const PURPOSES = deriveValues(FilePurpose);
const ANCHOR = 'created_at';
const SECONDS = { min: 3600, max: 2_592_000 };
const FILENAME_CHARACTERS_MAX = 255;

/** The form of an upload. OpenAI's clients flatten `expires_after` like this. */
export const FILE_FORM: Schema = {
  title: 'FileUpload',
  type: 'object',
  required: ['file', 'purpose'],
  additionalProperties: false,
  dependentRequired: {
    'expires_after[anchor]': ['expires_after[seconds]'],
    'expires_after[seconds]': ['expires_after[anchor]'],
  },
  properties: {
    file: { type: 'string', format: 'binary', minLength: 1 },
    purpose: { const: 'batch' },
    'expires_after[anchor]': { const: ANCHOR },
    'expires_after[seconds]': {
      type: 'integer',
      minimum: SECONDS.min,
      maximum: SECONDS.max,
      description: 'Kept that long, but no longer than files are kept here.',
    },
  },
};

export const FILE_LIST_PARAMETERS: readonly QueryParameter[] = [
  {
    name: 'after',
    description: 'Start after this file.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{0,64}$' },
  },
  {
    name: 'limit',
    description: `The number of files on a page, which has at most ${PAGE_MAX}.`,
    schema: { type: 'integer', minimum: LIMIT.min, maximum: LIMIT.max, default: LIMIT.fallback },
  },
  { name: 'order', description: 'The order by creation time.', schema: { enum: ['asc', 'desc', ''], default: 'desc' } },
  { name: 'purpose', description: 'Only these.', schema: { enum: [...Object.keys(PURPOSES), ''] } },
];

/** Reads the query of a list. */
export function readFileList(query: URLSearchParams): {
  readonly after: string;
  readonly limit: number;
  readonly ascending: boolean;
  readonly purpose: FilePurpose;
} {
  const after = query.get('after') ?? '';
  if (after !== '' && !PLAUSIBLE_ID.test(after)) throw invalid('after', 'must be the id of a file');
  return {
    after,
    limit: Math.min(readWholeNumber(query, 'limit', LIMIT), PAGE_MAX),
    ascending: readEnumValue(query, 'order', { asc: true, desc: false }) ?? false,
    purpose: readEnumValue(query, 'purpose', PURPOSES) ?? FilePurpose.UNSPECIFIED,
  };
}

const FIELDS: Readonly<Record<string, (value: string) => void>> = {
  purpose: (value) => {
    if (value !== 'batch') throw invalid('purpose', 'must be batch: files are for batches only');
  },
  'expires_after[anchor]': (value) => {
    if (value !== ANCHOR) throw invalid('expires_after[anchor]', `must be ${ANCHOR}`);
  },
  'expires_after[seconds]': (value) => {
    const seconds = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
    if (!(seconds >= SECONDS.min && seconds <= SECONDS.max))
      throw invalid('expires_after[seconds]', `must be a whole number from ${SECONDS.min} to ${SECONDS.max}`);
  },
};

/** Refuses an unknown field of an upload, and one with a wrong value. */
export function assertFileField(name: string, value: string): void {
  if (!Object.hasOwn(FIELDS, name))
    throw invalid(
      name.slice(0, FILENAME_CHARACTERS_MAX),
      `is an unknown field; known fields: file, ${Object.keys(FIELDS).join(', ')}`,
      'unknown_field',
    );
  FIELDS[name]?.(value);
}

/** Reads the lifetime of a file from checked fields; undefined if the client names none. Refuses a missing purpose. */
export function readFileFields(fields: ReadonlyMap<string, string>): { readonly lifetimeMs: number | undefined } {
  if (!fields.has('purpose')) throw invalid('purpose', 'is required: batch');
  const [anchor, seconds] = [fields.get('expires_after[anchor]'), fields.get('expires_after[seconds]')];
  if ((anchor === undefined) !== (seconds === undefined))
    throw invalid('expires_after', 'must have both an anchor and seconds');
  return { lifetimeMs: seconds === undefined ? undefined : Number(seconds) * 1000 };
}

/** The name as it is stored. Its length is counted in code points. */
export function cutFilename(name: string): string {
  const cut = Array.from(name.slice(0, 2 * FILENAME_CHARACTERS_MAX).toWellFormed()).slice(0, FILENAME_CHARACTERS_MAX);
  return cut.length === 0 ? 'file' : cut.join('');
}

/** The name in a header: nothing but letters, digits, dots, hyphens and underscores of ASCII. */
export function toHeaderFilename(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]/g, '_');
}
