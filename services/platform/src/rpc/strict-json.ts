import { ScalarType, fromJson, getOption, hasOption } from '@bufbuild/protobuf';
import type { DescEnum, DescField, DescMessage, DescOneof } from '@bufbuild/protobuf';
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { field as fieldOption } from '@reelgate/proto/rules/v1/rules';
import { SMALL_JSON, assertBounds } from '../bounded-json.ts';
import { Problem } from '../problem.ts';
import { WORDS, assertForm, assertScalar, quote, refusal, shorten, showValue, readJsonTree } from './json-values.ts';
import type { JsonForm, JsonTree } from './json-values.ts';
import { nearestName } from './nearest-name.ts';
import { listAllowedNames } from './value-rules.ts';

/** The messages of the contracts whose JSON is not an object with their fields. */
const OWN_FORMS: Readonly<Record<string, JsonForm>> = {
  'google.protobuf.Timestamp': {
    wanted: 'a time such as "2026-01-31T12:00:00Z"',
    fits: (tree) => tree.is === 'string' && isDay(tree.value) && canRead(TimestampSchema, tree.value),
  },
  'google.protobuf.Duration': {
    wanted: 'a length of time such as "1.5s"',
    fits: (tree) => tree.is === 'string' && SECONDS.test(tree.value) && canRead(DurationSchema, tree.value),
  },
};
const SECONDS = /^-?\d{1,12}(?:\.\d{1,9})?s$/;

/** The fields of a message by each name that JSON may use. */
const FIELDS = new WeakMap<DescMessage, ReadonlyMap<string, DescField>>();
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the bytes of a JSON request as text. A text that is not JSON of the message is refused with the whole path of the
 * field, what is wrong and what would be right. The library names only the innermost field, and it accepts more: it
 * rounds a 64-bit number beyond 2^53, reads "0x10" and " 1" as numbers, and takes a 30th of February for the 2nd of March.
 */
export function readStrictJson(message: DescMessage, bytes: Uint8Array): string {
  assertBounds(bytes, SMALL_JSON);
  const text = decode(bytes);
  assertJson(message, text);
  return text;
}

/** Throws a Problem unless the text is JSON of the message. */
export function assertJson(message: DescMessage, text: string): void {
  const tree = readTree(text);
  if (tree.is !== 'object' && !isWellKnown(message))
    throw new Problem({
      kind: 'invalid',
      reason: 'invalid_request',
      message: `the body must be an object with the fields of ${message.name}; it is ${WORDS[tree.is]}`,
    });
  assertMessage(message, tree, '');
}

function readTree(text: string): JsonTree {
  if (text.trim() === '') throw notJson('the body is empty; send {} for a request without fields');
  try {
    return readJsonTree(text);
  } catch (error) {
    throw notJson(`the body is not JSON: ${(error as SyntaxError).message}`);
  }
}

function notJson(message: string): Problem {
  return new Problem({ kind: 'invalid', reason: 'invalid_json', message });
}

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw notJson('the body is not JSON in UTF-8');
  }
}

function assertMessage(message: DescMessage, tree: JsonTree, path: string): void {
  const own = OWN_FORMS[message.typeName];
  if (own !== undefined) {
    assertForm(own, tree, path);
    return;
  }
  if (isWellKnown(message)) return;
  if (tree.is !== 'object') throw refusal(path, `must be an object; it is ${WORDS[tree.is]}`);
  const fields = indexFields(message);
  const written = new Map<DescField, string>();
  const chosen = new Map<DescOneof, DescField>();
  for (const [given, value] of tree.members) {
    const field = fields.get(given);
    if (field === undefined) throw unknownField(message, given, path);
    const at = joinPath(path, field.name);
    const before = written.get(field);
    if (before !== undefined)
      throw refusal(at, `is given twice${before === given ? '' : `, as ${before} and as ${given}`}; send it once`);
    written.set(field, given);
    if (value.is === 'null') continue;
    const { oneof } = field;
    if (oneof !== undefined) {
      const other = chosen.get(oneof);
      if (other !== undefined)
        throw refusal(joinPath(path, oneof.name), `has ${other.name} and ${field.name}; send one of them`);
      chosen.set(oneof, field);
    }
    assertField(field, value, at);
  }
}

function assertField(field: DescField, tree: JsonTree, path: string): void {
  switch (field.fieldKind) {
    case 'list':
      if (tree.is !== 'list') throw refusal(path, `must be a list; it is ${WORDS[tree.is]}`);
      for (const [index, item] of tree.items.entries()) assertValue(field, item, `${path}[${index}]`);
      return;
    case 'map':
      assertMap(field, tree, path);
      return;
    default:
      assertValue(field, tree, path);
  }
}

function assertMap(field: DescField & { fieldKind: 'map' }, tree: JsonTree, path: string): void {
  if (tree.is !== 'object') throw refusal(path, `must be an object; it is ${WORDS[tree.is]}`);
  const keys = new Set<string>();
  for (const [key, value] of tree.members) {
    const at = `${path}[${JSON.stringify(shorten(key))}]`;
    if (keys.has(key)) throw refusal(at, 'is given twice; send it once');
    keys.add(key);
    assertScalar(field.mapKey, readKey(field.mapKey, key), at);
    assertValue(field, value, at);
  }
}

/** The key of a map is always written as a string. */
function readKey(type: ScalarType, key: string): JsonTree {
  const isWord = type === ScalarType.BOOL && (key === 'true' || key === 'false');
  return isWord ? { is: 'boolean' } : { is: 'string', value: key };
}

/** A single value: of a field, of an item of a list, or of an entry of a map. */
function assertValue(field: DescField, tree: JsonTree, path: string): void {
  if (field.message !== undefined) assertMessage(field.message, tree, path);
  else if (field.enum !== undefined) assertEnum(field, field.enum, tree, path);
  else if (field.scalar !== undefined) assertScalar(field.scalar, tree, path);
}

/** A number is checked with the rules of its field, as in a binary message. */
function assertEnum(field: DescField, values: DescEnum, tree: JsonTree, path: string): void {
  if (tree.is === 'string' && values.values.some(({ name }) => name === tree.value)) return;
  if (tree.is === 'number' && values.value[Number(tree.written)] !== undefined) return;
  const [names, shown] = [enumNames(field, values), showValue(tree)];
  const isUnknown = tree.is === 'string' || tree.is === 'number';
  throw refusal(
    path,
    isUnknown ? `has the unknown value ${shown}; must be one of ${names}` : `must be one of ${names}; it is ${shown}`,
  );
}

function enumNames(field: DescField, values: DescEnum): string {
  const rules = hasOption(field, fieldOption) ? getOption(field, fieldOption) : undefined;
  return listAllowedNames((field.fieldKind === 'list' ? rules?.items : rules)?.in ?? [], values);
}

/** Such a message has a JSON of its own, which the library reads. A test refuses a contract with another one. */
function isWellKnown({ typeName }: DescMessage): boolean {
  return typeName.startsWith('google.protobuf.');
}

function canRead(message: DescMessage, text: string): boolean {
  try {
    fromJson(message, text);
    return true;
  } catch {
    return false;
  }
}

/** The library takes a 30th of February for the second of March. */
function isDay(text: string): boolean {
  const [day = ''] = text.split('T');
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
}

function indexFields(message: DescMessage): ReadonlyMap<string, DescField> {
  const known = FIELDS.get(message);
  if (known !== undefined) return known;
  const fields = new Map(message.fields.flatMap((field) => [field.jsonName, field.name].map((name) => [name, field])));
  FIELDS.set(message, fields);
  return fields;
}

function unknownField(message: DescMessage, given: string, path: string): Problem {
  const names = message.fields.map((field) => field.name);
  const meant = message.fields.find((field) => field.name === nearestName(given, names));
  const instead =
    meant === undefined
      ? `its fields are ${names.join(', ')}`
      : `did you mean ${meant.name}${meant.jsonName === meant.name ? '' : ` (${meant.jsonName})`}`;
  return new Problem({
    kind: 'invalid',
    reason: 'unknown_field',
    field: joinPath(path, /^[\w.-]+$/.test(given) ? shorten(given) : quote(given)),
    message: `is not a field of ${message.name}; ${names.length === 0 ? 'it has none' : instead}`,
  });
}

function joinPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
