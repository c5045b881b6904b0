/** Parts of the JSON schema of this service's configuration. */
const WHOLE_MAX = 2 ** 31 - 1;

export const name: object = { type: 'string', minLength: 1, maxLength: 128 };

export function whole(least: number, byDefault?: number): object {
  return {
    type: 'integer',
    minimum: least,
    maximum: WHOLE_MAX,
    ...(byDefault === undefined ? {} : { default: byDefault }),
    description: `a whole number from ${least}`,
  };
}

export function duration(byDefault: string): object {
  return { type: 'string', format: 'duration', default: byDefault };
}

/** An object with these keys and no others. */
export function objectSchema(properties: object, required: readonly string[] = [], more: object = {}): object {
  return { type: 'object', additionalProperties: false, properties, required, ...more };
}
