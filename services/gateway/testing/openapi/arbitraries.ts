import fc from 'fast-check';
import type { ApiDocument, Json } from './document.ts';

const ITEMS_MAX = 3;
const CHARACTERS_MAX = 40;
const WHOLE_MAX = 1000;
/** How often an example from the document replaces an arbitrary value. */
const EXAMPLES_WEIGHT = 4;
const JUNK: readonly unknown[] = [
  {},
  [],
  true,
  -1,
  1.5,
  99_999_999_999,
  '',
  ' ',
  'no such word',
  [{}],
  { type: 'none' },
  'x'.repeat(8000),
];

type Arbitrary = fc.Arbitrary<unknown>;

/** Values that a schema of the document accepts. */
export function valuesOf(document: ApiDocument, schema: Json): Arbitrary {
  return anything(document, schema).filter((value) => document.fault(schema, value) === undefined);
}

/** Values that it rejects: valid values with one fault. */
export function wrongValuesOf(document: ApiDocument, schema: Json): Arbitrary {
  return fc
    .tuple(anything(document, schema), fc.nat(), fc.nat(), fc.constantFrom(...JUNK))
    .map(([value, place, how, junk]) => (how % 5 === 4 ? junk : spoiled(value, place, how, junk)))
    .filter((value) => document.fault(schema, value) !== undefined);
}

/** Follows the schema roughly; the filter applies rules between fields. */
function anything(document: ApiDocument, written: Json): Arbitrary {
  const schema = document.resolve(written);
  const branches = (schema['anyOf'] ?? schema['oneOf']) as readonly Json[] | undefined;
  const plain =
    branches === undefined
      ? byKeyword(document, schema)
      : fc.oneof(
          ...branches.map((branch) =>
            anything(document, merged({ ...schema, anyOf: undefined, oneOf: undefined }, document.resolve(branch))),
          ),
        );
  const examples = schema['examples'] as readonly unknown[] | undefined;
  return examples === undefined
    ? plain
    : fc.oneof({ arbitrary: fc.constantFrom(...examples), weight: EXAMPLES_WEIGHT }, { arbitrary: plain, weight: 1 });
}

function byKeyword(document: ApiDocument, schema: Json): Arbitrary {
  if ('const' in schema) return fc.constant(schema['const']);
  if ('enum' in schema) return fc.constantFrom(...(schema['enum'] as readonly unknown[]));
  const types = [
    schema['type'] ?? ('properties' in schema ? 'object' : 'string'),
  ].flat() as unknown as readonly (keyof typeof BY_TYPE)[];
  return fc.oneof(...types.map((type) => BY_TYPE[type](document, schema)));
}

const BY_TYPE = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  integer: (_document: ApiDocument, { minimum = 0, maximum = WHOLE_MAX }: Json) =>
    fc.integer({ min: Number(minimum), max: Math.min(Number(maximum), Number(minimum) + WHOLE_MAX) }),
  string: (_document: ApiDocument, { pattern, minLength = 0, maxLength = CHARACTERS_MAX, format }: Json) => {
    if (format === 'date') return fc.constantFrom('2026-11-01', '2026-11-20');
    if (format === 'date-time') return fc.constantFrom('2026-11-01T00:00:00Z', '2026-11-20T12:00:00.5+01:00');
    if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern));
    return fc.string({ minLength: Number(minLength), maxLength: Math.min(Number(maxLength), CHARACTERS_MAX) });
  },
  array: arrayOf,
  object: objectOf,
};

function arrayOf(document: ApiDocument, schema: Json): Arbitrary {
  const {
    items = {},
    minItems = 0,
    maxItems = ITEMS_MAX,
    contains,
    allOf = [],
  } = schema as {
    readonly items?: Json;
    readonly minItems?: number;
    readonly maxItems?: number;
    readonly contains?: Json;
    readonly allOf?: readonly Json[];
  };
  const wanted = [contains, ...allOf.map((rule) => rule['contains'] as Json | undefined)].filter(
    (rule) => rule !== undefined,
  );
  const item = valuesOf(document, items);
  const with1 = wanted.map((rule) =>
    anything(document, { ...items, ...document.resolve(items) }).filter(
      (value) => document.fault(items, value) === undefined && document.fault(rule, value) === undefined,
    ),
  );
  const most = Math.max(0, Math.min(maxItems, ITEMS_MAX) - with1.length);
  return fc
    .tuple(
      fc.tuple(...with1),
      fc.array(item, { minLength: Math.min(most, Math.max(0, minItems - with1.length)), maxLength: most }),
    )
    .map(([first, others]) => [...first, ...others]);
}

function objectOf(document: ApiDocument, schema: Json): Arbitrary {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  };
  const model = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, anything(document, property)]),
  );
  return fc.record(model, { requiredKeys: required.filter((name) => name in model) });
}

/** A schema combined with one of its branches. */
function merged(base: Json, more: Json): Json {
  const [ones, others] = [propertiesOf(base), propertiesOf(more)];
  const properties = {
    ...ones,
    ...Object.fromEntries(Object.entries(others).map(([name, schema]) => [name, { ...ones[name], ...schema }])),
  };
  const required = [base, more].flatMap((schema) => (schema['required'] ?? []) as readonly string[]);
  return {
    ...base,
    ...more,
    examples: more['examples'],
    ...(Object.keys(properties).length === 0 ? {} : { properties, required }),
  };
}

function propertiesOf(schema: Json): Readonly<Record<string, Json>> {
  return (schema['properties'] ?? {}) as Readonly<Record<string, Json>>;
}

/** Removes one member, replaces it with junk, or adds one that the schema does not name, anywhere in the value. */
function spoiled(value: unknown, place: number, how: number, junk: unknown): unknown {
  if (typeof value !== 'object' || value === null) return junk;
  const names = Object.keys(value);
  const at = names[place % Math.max(1, names.length)];
  if (at === undefined || how % 4 === 0)
    return Array.isArray(value) ? [...(value as unknown[]), junk] : { ...value, a_field_of_the_test: junk };
  const inner = (value as Readonly<Record<string, unknown>>)[at];
  if (how % 4 === 1)
    return Array.isArray(value)
      ? value.filter((_, index) => String(index) !== at)
      : Object.fromEntries(Object.entries(value).filter(([name]) => name !== at));
  const changed =
    how % 4 === 2 || typeof inner !== 'object'
      ? junk
      : spoiled(inner, Math.floor(place / 3), Math.floor(how / 4), junk);
  return Array.isArray(value)
    ? value.map((one: unknown, index) => (String(index) === at ? changed : one))
    : { ...value, [at]: changed };
}
