import { ADAPTER_NAME_PATTERN, listAdapters } from '@reelgate/tasks/config';
import { describeFormat } from '@reelgate/platform/config/units';
import { listAdapterNames } from './channels-schema.ts';
import { describeConfig } from './program-schema.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The words of a schema for people. */
interface SettingNotes {
  readonly about?: string;
  readonly description?: string;
}

/** A text that holds `${NAME}`, `${NAME:-default}` or `${file:/path}`. */
const VARIABLE_PATTERN = '\\$\\{(file:/[^}\\n]+|[A-Za-z_][A-Za-z0-9_]*(:-[^}\\n]*)?)\\}';
const BUILT_IN = listAdapters([]);
/** An editor knows the names of the built-in adapters alone. */
const ADAPTER_NAME: Schema = {
  anyOf: [{ enum: listAdapterNames(BUILT_IN) }, { type: 'string', pattern: ADAPTER_NAME_PATTERN }],
  description: 'a built-in adapter, or the name of a file under adapters',
};
/** The formats of the configuration reader as patterns that every validator knows. */
const FORMAT_PATTERNS: Readonly<Record<string, string>> = {
  duration: '^\\d+(ms|s|m|h|d)$',
  bytes: '^\\d+(B|KiB|MiB|GiB)?$',
  'host-port': '^(\\[[0-9a-fA-F:]+\\]|[A-Za-z0-9_.-]+):\\d{1,5}$',
  network: '^[0-9a-fA-F:.]+(/\\d{1,3})?$',
  decimal: '^(0|[1-9]\\d{0,11})(\\.\\d{1,9})?$',
};
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ['pattern', 'format', 'minLength', 'maxLength'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum'],
  number: ['minimum', 'maximum', 'exclusiveMinimum'],
  boolean: [],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'allOf'],
};

/**
 * The configuration's JSON Schema for editors, made from the tables that the reader checks with. An editor sees the
 * file before its variables are replaced and its empty values removed, so every value may be empty or hold a variable.
 */
export function configJsonSchema(): Schema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'The configuration of Reelgate',
    ...publishSchema(describeConfig(BUILT_IN, { named: ADAPTER_NAME })),
    definitions: {
      variable_or_empty: { anyOf: [{ type: 'string', pattern: VARIABLE_PATTERN }, { enum: ['', null] }] },
    },
  };
}

function publishSchema(schema: Schema): Schema {
  const alternatives = listAlternatives(schema);
  const { about, description: expects = describeFormat(schema['format']) } = schema as SettingNotes;
  const description = [about, expects].filter((words) => words !== undefined).join('; ');
  const notes = {
    ...(description === '' ? {} : { description }),
    ...(isPlain(schema['default']) ? { default: schema['default'] } : {}),
  };
  const [only] = alternatives;
  // No variable can hold a section or a list.
  if (alternatives.length === 1 && only !== undefined && isNested(only))
    return { ...notes, ...only, type: [only['type'], 'null'] };
  return {
    ...notes,
    anyOf: [...alternatives, { $ref: '#/definitions/variable_or_empty' }],
  };
}

/** One schema for each type that a value can have. */
function listAlternatives(schema: Schema): Schema[] {
  if (schema['anyOf'] !== undefined) return (schema['anyOf'] as Schema[]).flatMap(listAlternatives);
  if (schema['enum'] !== undefined) return [{ enum: schema['enum'] }];
  return [schema['type']].flat().map((type) => {
    const kept = (KEYWORDS[String(type)] ?? []).flatMap((keyword) =>
      schema[keyword] === undefined ? [] : Object.entries(translateKeyword(keyword, schema[keyword])),
    );
    return { type, ...Object.fromEntries(kept) };
  });
}

function translateKeyword(keyword: string, value: unknown): Schema {
  if (keyword === 'format') return { pattern: FORMAT_PATTERNS[String(value)] };
  if (keyword === 'items' || (keyword === 'additionalProperties' && typeof value === 'object'))
    return { [keyword]: publishSchema(value as Schema) };
  if (keyword !== 'properties') return { [keyword]: value };
  const properties = Object.entries(value as Readonly<Record<string, Schema>>);
  return { properties: Object.fromEntries(properties.map(([name, inner]) => [name, publishSchema(inner)])) };
}

function isNested({ type }: Schema): boolean {
  return type === 'object' || type === 'array';
}

/** A section without a default of its own has those of its keys. */
function isPlain(value: unknown): boolean {
  return value !== undefined && (typeof value !== 'object' || (Array.isArray(value) && value.length > 0));
}
