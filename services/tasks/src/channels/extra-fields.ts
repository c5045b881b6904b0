import type { ExtraField, ExtraFields, ExtraValue } from '@reelgate/adapter-kit';
import { readObject } from '@reelgate/adapter-kit/kit';

/** Media reach an upstream only through the protected path, so a text that could be read as a URL is not passed on. */
const LIKE_A_URL = /:\/\/|^\s*[/\\]{2}|^\s*data:|;base64,|\/ximg\/|^\s*www\./i;
const WHOLE = /^-?\d{1,15}$/;
/** A part of a price key, and the most of them that billing takes. */
const CHOICE = /^[\w.-]{1,64}$/;
export const CHOICES_MAX = 8;
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
  word: (value, { words }) => words.find((word) => word === value),
  text: (value, { charactersMax }) =>
    typeof value !== 'string' || value === '' || value.length > charactersMax || LIKE_A_URL.test(value)
      ? undefined
      : value,
};

/**
 * The fields that do not change a video or its price: they say who asks. They go to an upstream that accepts them, and
 * matter to no other.
 */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(['user']);

/** An extra field that does not reach the upstream. */
export interface ExtraFault {
  readonly field: string;
  /** The values that the upstream takes, if it takes the field at all. */
  readonly expected?: string;
}

export interface ExtraReading {
  readonly values: Readonly<Record<string, ExtraValue>>;
  readonly faults: readonly ExtraFault[];
}

/**
 * Reads the client's JSON: the checked values of the fields in `taken`, by default those that are declared, and a fault
 * for every other field. A member that is null is absent, and so is an empty text.
 */
export function readExtraFields(
  json: string | undefined,
  declared: ExtraFields,
  taken: readonly string[] = Object.keys(declared),
): ExtraReading {
  const values: Record<string, ExtraValue> = {};
  const faults: ExtraFault[] = [];
  for (const [name, sent] of listExtraFields(json)) {
    const field = taken.includes(name) && Object.hasOwn(declared, name) ? declared[name] : undefined;
    const value = field && (READERS[field.type] as FieldReader<FieldType>)(sent, field);
    if (value !== undefined) values[name] = value;
    else if (field === undefined) faults.push({ field: name });
    else if (field.type !== 'text' || sent !== '') faults.push({ field: name, expected: describeExpected(field) });
  }
  return { values, faults: faults.filter(({ field }) => !WITHOUT_EFFECT.has(field)) };
}

/** The fields that reach the upstream of a channel without `extra_fields`. */
export function listFreeFields(declared: ExtraFields): readonly string[] {
  return Object.entries(declared).flatMap(([name, field]) => (field.isForOperators === true ? [] : [name]));
}

/** Lists the values of the priced fields, each as `<field>_<value>`, as far as it can be a part of a price key. */
export function listChoices(json: string | undefined, declared: ExtraFields): readonly string[] {
  const { values } = readExtraFields(json, declared);
  return Object.entries(values)
    .filter(([name]) => isPriced(declared[name]))
    .map(([name, value]) => `${name}_${String(value)}`)
    .filter((choice) => CHOICE.test(choice));
}

function isPriced(field: ExtraField | undefined): boolean {
  return field !== undefined && 'isPriced' in field && field.isPriced === true;
}

function describeExpected(field: ExtraField): string {
  if (field.type === 'flag') return 'true or false';
  if (field.type === 'word') return field.words.join(' or ');
  if (field.type === 'text') return `a text of at most ${field.charactersMax} characters without a URL`;
  return `a ${field.type === 'whole' ? 'whole number' : 'number'} from ${field.least} to ${field.most}`;
}

/** Lists the extra fields of an order with the client's values. The list is empty if the text is not an object. */
export function listExtraFields(json: string | undefined): readonly (readonly [string, unknown])[] {
  if (json === undefined) return [];
  return Object.entries(readObject(parseJson(json))).filter(([, value]) => value !== null);
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
