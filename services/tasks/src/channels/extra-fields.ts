import type { ExtraField, ExtraFields, ExtraValue } from '@reelgate/adapter-kit';
import { readObject } from '@reelgate/adapter-kit/kit';

/** Media reach an upstream only through the protected path, so a text that could be read as a URL is not passed on. */
const LIKE_A_URL = /:\/\/|^\s*[/\\]{2}|^\s*data:|;base64,|\/ximg\/|^\s*www\./i;
const WHOLE = /^-?\d{1,15}$/;
const DECIMAL = /^-?\d{1,15}(\.\d{1,15})?$/;

type FieldType = ExtraField['type'];
type FieldReader<T extends FieldType> = (
  value: unknown,
  limits: Extract<ExtraField, { type: T }>,
) => ExtraValue | undefined;

/** Each reads the client's value of a field, or returns undefined for a value that must not be passed on. */
const READERS: { readonly [T in FieldType]: FieldReader<T> } = {
  // a form sends only texts, so a text of digits counts as a number
  whole: (value, limits) => readWithin(parseNumber(value, WHOLE), limits, Number.isSafeInteger),
  number: (value, limits) => readWithin(parseNumber(value, DECIMAL), limits, Number.isFinite),
  flag: (value) =>
    value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined,
  text: (value, { charactersMax }) =>
    typeof value !== 'string' || value === '' || value.length > charactersMax || LIKE_A_URL.test(value)
      ? undefined
      : value,
};

/** The checked values of the declared fields in the client's JSON. Every other field is left out. */
export function readExtraFields(json: string | undefined, fields: ExtraFields): Readonly<Record<string, ExtraValue>> {
  if (json === undefined) return {};
  const sent = readObject(parseJson(json));
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const read = READERS[field.type] as FieldReader<FieldType>;
      const value = Object.hasOwn(sent, name) ? read(sent[name], field) : undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function parseNumber(value: unknown, form: RegExp): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && form.test(value) ? Number(value) : Number.NaN;
}

function readWithin(
  value: number,
  { least, most }: { readonly least: number; readonly most: number },
  isOne: (value: number) => boolean,
): number | undefined {
  return isOne(value) && value >= least && value <= most ? value : undefined;
}
