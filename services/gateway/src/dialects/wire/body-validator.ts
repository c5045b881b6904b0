import { Ajv } from '@reelgate/platform/json-schema';
import type { ErrorObject, ValidateFunction } from '@reelgate/platform/json-schema';
import type { Problem } from '@reelgate/platform/problem';
import { readOwn } from '../../domain/read-own.ts';
import type { Schema, TypeOf } from '../../domain/schema.ts';
import { refuse } from '../../refusals.ts';
import type { Reason } from '../../refusals.ts';

const SHOWN_CHARACTERS_MAX = 64;

/** The reason of a refusal, by the first field of the path. */
const REASONS: Readonly<Record<string, Reason>> = {
  model: 'missing_model',
  content: 'invalid_content',
  prompt: 'invalid_content',
  image: 'invalid_content',
  images: 'invalid_content',
  first_frame: 'invalid_content',
  first_frame_image: 'invalid_content',
  last_frame: 'invalid_content',
  last_frame_image: 'invalid_content',
  reference_images: 'invalid_content',
  frame_images: 'invalid_content',
  input_references: 'invalid_content',
  aspect_ratio: 'invalid_ratio',
  duration: 'invalid_duration',
  seconds: 'invalid_duration',
  resolution: 'invalid_resolution',
  ratio: 'invalid_ratio',
  action: 'invalid_action',
};

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
};

const ajv = new Ajv({
  allErrors: false,
  strict: true,
  allowUnionTypes: true,
  discriminator: true,
  strictTypes: false,
  strictRequired: false,
  verbose: true,
});

/**
 * The library counts the characters of every text up to its end. A text of as many units as the bound, or of twice as
 * many, is judged by its length alone.
 */
const LENGTHS: Readonly<Record<string, (limit: number) => (text: string) => boolean>> = {
  minLength: (least) => (text) => text.length >= 2 * least || (text.length >= least && countCharacters(text) >= least),
  maxLength: (most) => (text) => text.length <= most || (text.length <= 2 * most && countCharacters(text) <= most),
};
for (const [keyword, compile] of Object.entries(LENGTHS))
  ajv.removeKeyword(keyword).addKeyword({ keyword, type: 'string', schemaType: 'number', compile });

function countCharacters(text: string): number {
  return Array.from(text).length;
}

/**
 * A check of the names and types of a body. It returns the typed body or refuses with the first error. Its first body
 * compiles it.
 */
export function bodyValidator<const S extends Schema>(schema: S, hint?: string): (body: unknown) => TypeOf<S>;
export function bodyValidator<T extends object>(schema: Schema, hint?: string): (body: unknown) => T;
export function bodyValidator(schema: Schema, hint = ''): (body: unknown) => unknown {
  let compiled: ValidateFunction | undefined;
  return (body) => {
    if (body === null || typeof body !== 'object' || Array.isArray(body)) {
      throw refuse('invalid_request', { message: `the body must be a JSON object; it is ${quoteValue(body)}` });
    }
    const check = (compiled ??= ajv.compile(schema));
    if (check(body)) return body;
    throw toProblem(check.errors?.[0], hint);
  };
}

/** Returns the refusal of a field, with the dialect's name for it. */
export function invalid(field: string, message: string, reason: Reason = chooseReason(field)): Problem {
  return refuse(reason, { field, message });
}

function toProblem(error: ErrorObject | undefined, hint: string): Problem {
  if (error === undefined) throw new Error('the validator refused a body without an error');
  const at = toFieldPath(error.instancePath);
  const params = error.params as Readonly<Record<string, unknown>>;
  const {
    data,
    parentSchema = {},
    schema,
  } = error as ErrorObject & {
    readonly parentSchema?: Readonly<Record<string, unknown>>;
  };
  const limit = String(params['limit']);
  const words: Readonly<Record<string, () => Problem>> = {
    additionalProperties: () =>
      invalid(
        join(at, cut(String(params['additionalProperty']))),
        `is an unknown field; ${listKnownFields(parentSchema)}${hint}`,
        'unknown_field',
      ),
    required: () =>
      invalid(
        join(at, String(params['missingProperty'])),
        `is required${describeField(parentSchema, String(params['missingProperty']))}${hint}`,
      ),
    type: () => invalid(at, `must be ${describeTypes(params['type'])}; it is ${quoteValue(data)}`),
    enum: () =>
      invalid(at, `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}; it is ${quoteValue(data)}`),
    const: () => invalid(at, `must be ${quoteValue(params['allowedValue'])}; it is ${quoteValue(data)}`),
    minimum: () => invalid(at, `must be at least ${limit}; it is ${quoteValue(data)}`),
    maximum: () => invalid(at, `must be at most ${limit}; it is ${quoteValue(data)}`),
    maxProperties: () => invalid(at, `must have at most ${limit} members`),
    minLength: () => invalid(at, 'must not be empty'),
    maxLength: () => invalid(at, `must have at most ${String(schema)} characters`),
    minItems: () => invalid(at, `must have at least ${limit} items`),
    maxItems: () => invalid(at, `must have at most ${limit} items`),
    discriminator: () =>
      invalid(
        join(at, String(params['tag'])),
        `must be one of ${listTags(parentSchema).join(', ')}; it is ${quoteValue(params['tagValue'])}`,
      ),
  };
  return words[error.keyword]?.() ?? invalid(at, error.message ?? 'is invalid');
}

function chooseReason(field: string): Reason {
  const [head = ''] = field.split(/[.[]/, 1);
  return readOwn(REASONS, head) ?? 'invalid_request';
}

/** Converts a pointer such as `/content/1/role` to a field such as `content[1].role`. */
function toFieldPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(join, '');
}

function join(field: string, step: string): string {
  if (/^\d+$/.test(step)) return `${field}[${step}]`;
  return field === '' ? step : `${field}.${step}`;
}

function listKnownFields(schema: Readonly<Record<string, unknown>>): string {
  return `known fields: ${Object.keys((schema['properties'] as object | undefined) ?? {}).join(', ')}`;
}

function describeField(schema: Readonly<Record<string, unknown>>, field: string): string {
  const { description } =
    (schema['properties'] as Readonly<Record<string, { readonly description?: string }>> | undefined)?.[field] ?? {};
  return description === undefined ? '' : `: ${uncapitalise(description).replace(/\.$/, '')}`;
}

/** Makes a description the end of another sentence. A name keeps its capital. */
function uncapitalise(sentence: string): string {
  return /^[A-Z][a-z]*[ ,]/.test(sentence) ? sentence.charAt(0).toLowerCase() + sentence.slice(1) : sentence;
}

function describeTypes(type: unknown): string {
  return [type]
    .flat()
    .map((name) => TYPE_WORDS[String(name)] ?? String(name))
    .join(' or ');
}

function listTags(schema: Readonly<Record<string, unknown>>): string[] {
  const branches =
    (schema['oneOf'] as { readonly properties: { readonly type: { readonly const: string } } }[] | undefined) ?? [];
  return branches.map(({ properties }) => properties.type.const);
}

/** Returns a value as a message may quote it: shortened, or only its kind. */
function quoteValue(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (value === undefined) return 'missing';
  return typeof value === 'string' ? JSON.stringify(cut(value)) : JSON.stringify(value);
}

function cut(text: string): string {
  return text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX)}…`;
}
