const text: object = { type: 'string', minLength: 1, maxLength: 256 };
const texts: object = { type: 'object', additionalProperties: text };
const webAddress: object = { type: 'string', pattern: '^https?://[^\\s]+$', description: 'an http:// or https:// URL' };
const record = (properties: object, required: readonly string[]): object => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const whole: object = { type: 'integer', minimum: 1, maximum: 1_000_000_000 };
const numberField = (type: string): object =>
  record({ type: { const: type }, least: { type: 'number' }, most: { type: 'number' } }, ['type', 'least', 'most']);

/** The JSON Schema of the parts of an adapter that are no functions. */
export const ADAPTER_SCHEMA: object = record(
  {
    kit: { enum: [1] },
    endpoints: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { enum: ['video.generation', 'video.regeneration', 'video.context_ir'] },
    },
    credential: record({ header: { type: 'string', pattern: '^[A-Za-z0-9-]{1,64}$' }, scheme: text }, ['header']),
    headers: texts,
    hosts: { type: 'object', additionalProperties: webAddress },
    answerHeaders: { type: 'array', maxItems: 32, items: text },
    extraFields: {
      type: 'object',
      additionalProperties: {
        description: 'an extra field with its type and limits',
        anyOf: [
          numberField('whole'),
          numberField('number'),
          record({ type: { const: 'flag' } }, ['type']),
          record({ type: { const: 'text' }, charactersMax: whole }, ['type', 'charactersMax']),
        ],
      },
    },
    callbacks: record(
      {
        signature: {
          description: 'a signature of one of the three forms',
          anyOf: [
            record({ form: { const: 'standard-webhooks' } }, ['form']),
            record({ form: { const: 'timestamped-hmac' }, header: text, joiner: { type: 'string' } }, [
              'form',
              'header',
              'joiner',
            ]),
            record(
              {
                form: { const: 'ed25519' },
                header: text,
                signedHeaders: { type: 'array', maxItems: 16, items: text },
                timeHeader: text,
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
    options: { type: 'object' },
  },
  ['kit', 'endpoints', 'credential'],
);
