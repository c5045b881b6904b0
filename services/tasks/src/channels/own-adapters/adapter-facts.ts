import type { Adapter, CallbackSignature, Json } from '@reelgate/adapter-kit';
import { readObject } from '@reelgate/adapter-kit/kit';
import { checkValue } from '@reelgate/platform/config/check-value';
import { ConfigError } from '@reelgate/platform/config/config-file';
import { OwnAdapterFault } from './sandbox/new-sandbox.ts';
import type { AdapterSandbox } from './sandbox/new-sandbox.ts';

const text: object = { type: 'string', minLength: 1, maxLength: 256 };
const printable: object = {
  type: 'string',
  pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]{0,254}[\\x21-\\x7e])?$',
  description: 'printable ASCII',
};
const headerName: object = { type: 'string', pattern: '^[A-Za-z0-9-]{1,64}$', description: 'the name of a header' };
const headers: object = { type: 'object', propertyNames: headerName, additionalProperties: printable };
const webAddress: object = { type: 'string', pattern: '^https?://[^\\s]+$', description: 'an http:// or https:// URL' };
const record = (properties: object, required: readonly string[]): object => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const whole: object = { type: 'integer', minimum: 1, maximum: 1_000_000_000 };
const flag: object = { type: 'boolean' };
const extraRules = { isForOperators: flag };
const pricedRules = { ...extraRules, isPriced: flag };
const words: object = {
  type: 'array',
  minItems: 1,
  maxItems: 32,
  items: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,32}$', description: 'a word of letters, digits, . _ and -' },
};
const numberField = (type: string): object =>
  record({ type: { const: type }, least: { type: 'number' }, most: { type: 'number' }, ...extraRules }, [
    'type',
    'least',
    'most',
  ]);

const OPTIONS = '#/definitions/options';
const limit: object = { type: 'number' };
const count: object = { type: 'integer', minimum: 0, maximum: 1_000_000 };

/**
 * The JSON Schema of the JSON Schema of options. Values are checked against the inner schema outside the sandbox, so it
 * has no keyword with a slow or endless check: no pattern and no reference.
 */
const optionsSchema: object = {
  type: 'object',
  description: 'a JSON Schema without pattern, format and $ref; openCalls can refuse what a schema cannot express',
  additionalProperties: false,
  properties: {
    type: { enum: ['object', 'array', 'string', 'number', 'integer', 'boolean'] },
    description: text,
    default: {},
    const: {},
    enum: { type: 'array', minItems: 1, maxItems: 1000 },
    properties: { type: 'object', additionalProperties: { $ref: OPTIONS } },
    required: { type: 'array', items: text, maxItems: 1000 },
    additionalProperties: { anyOf: [{ type: 'boolean' }, { $ref: OPTIONS }] },
    minProperties: count,
    maxProperties: count,
    items: { $ref: OPTIONS },
    minItems: count,
    maxItems: count,
    minLength: count,
    maxLength: count,
    minimum: limit,
    maximum: limit,
    exclusiveMinimum: limit,
    exclusiveMaximum: limit,
    anyOf: { type: 'array', minItems: 1, maxItems: 16, items: { $ref: OPTIONS } },
  },
};

/** The JSON Schema of the parts of an adapter that are no functions. */
const ADAPTER_SCHEMA: object = {
  ...record(
    {
      kit: { enum: [1] },
      endpoints: {
        type: 'array',
        minItems: 1,
        uniqueItems: true,
        items: { enum: ['video.generation', 'video.regeneration', 'video.context_ir'] },
      },
      credential: record({ header: headerName, scheme: printable }, ['header']),
      headers,
      hosts: { type: 'object', additionalProperties: webAddress },
      answerHeaders: { type: 'array', maxItems: 32, items: headerName },
      extraFields: {
        type: 'object',
        additionalProperties: {
          description: 'an extra field with its type and limits',
          anyOf: [
            numberField('whole'),
            numberField('number'),
            record({ type: { const: 'flag' }, ...pricedRules }, ['type']),
            record({ type: { const: 'word' }, words, ...pricedRules }, ['type', 'words']),
            record({ type: { const: 'text' }, charactersMax: whole, ...extraRules }, ['type', 'charactersMax']),
          ],
        },
      },
      callbacks: record(
        {
          signature: {
            description: 'a signature of one of the three forms',
            anyOf: [
              record({ form: { const: 'standard-webhooks' } }, ['form']),
              record({ form: { const: 'timestamped-hmac' }, header: headerName, joiner: { type: 'string' } }, [
                'form',
                'header',
                'joiner',
              ]),
              record(
                {
                  form: { const: 'ed25519' },
                  header: headerName,
                  signedHeaders: { type: 'array', maxItems: 16, items: headerName },
                  timeHeader: headerName,
                  keys: webAddress,
                },
                ['form', 'header', 'signedHeaders', 'timeHeader', 'keys'],
              ),
            ],
          },
        },
        [],
      ),
      pollManyMax: { type: 'integer', minimum: 2, maximum: 1000 },
      visibleAfterMs: { type: 'integer', minimum: 0, maximum: 86_400_000 },
      pollsPerMinute: { type: 'integer', minimum: 1, maximum: 6000 },
      options: { $ref: OPTIONS },
    },
    ['kit', 'endpoints', 'credential'],
  ),
  definitions: { options: optionsSchema },
};

/** The parts of an adapter that are no functions. */
export type AdapterFacts = Omit<Adapter, 'openCalls' | 'callbacks'> & {
  /** Present if the adapter reads callbacks. */
  readonly callbacks?: { readonly signature?: CallbackSignature | undefined } | undefined;
};

/** Asks an adapter for its facts. Throws an `OwnAdapterFault`, or a `ConfigError` with the line of a wrong fact. */
export async function askForFacts(file: string, text: string, sandbox: AdapterSandbox): Promise<AdapterFacts> {
  const { value, hasOpenCalls, hasReadId } = await describeAdapter(file, sandbox);
  const facts = checkFacts(readObject(value), (keys, expected) => {
    const at = text.split('\n').findIndex((line) => line.trimStart().startsWith(`${String(keys.at(0))}:`));
    return new ConfigError(
      `${file}:${Math.max(at, 0) + 1}: ${keys.length === 0 ? 'the adapter' : keys.join('.')}: ${expected}`,
    );
  });
  if (hasOpenCalls !== true) throw new OwnAdapterFault(file, 1, 'openCalls: expected a function');
  if (facts.callbacks !== undefined && hasReadId !== true)
    throw new OwnAdapterFault(file, 1, 'callbacks.readId: expected a function');
  return facts;
}

/**
 * Returns the value as the facts of an adapter. Throws the error that `fault` builds from a place and the expected
 * value.
 */
export function checkFacts(value: Json, fault: Parameters<typeof checkValue>[2]): AdapterFacts {
  checkValue(value, ADAPTER_SCHEMA, fault, () => false);
  return value as unknown as AdapterFacts;
}

async function describeAdapter(file: string, sandbox: AdapterSandbox): Promise<Json> {
  try {
    return await sandbox.ask({ act: 'describe' });
  } catch (error) {
    throw error instanceof OwnAdapterFault ? error : new OwnAdapterFault(file, 1, (error as Error).message);
  }
}
