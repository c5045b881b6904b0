import { ScalarType, create } from '@bufbuild/protobuf';
import type { DescField, DescMessage, Message } from '@bufbuild/protobuf';
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';

/** A message below this depth has no message of its own. */
const DEPTH_MAX = 4;
const ITEMS_MAX = 3;
/** The times that JSON can write. */
const SECONDS = { min: -62_135_596_800n, max: 253_402_300_799n };
const NANOS_MAX = 999_999_999;

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const INT32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const INT64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

/** Any message of a type, whatever its rules say. Enums have values that the contract names. */
export function arbitraryMessage(message: DescMessage): Arbitrary<Message> {
  return initOf(message, 1).map((init) => create(message, init as never));
}

function initOf(message: DescMessage, depth: number): Arbitrary<object> {
  if (message.typeName === 'google.protobuf.Timestamp')
    return fc.record({ seconds: fc.bigInt(SECONDS), nanos: fc.nat(NANOS_MAX) });
  if (message.typeName === 'google.protobuf.Duration')
    return fc.record({ seconds: fc.bigInt({ min: 0n, max: 1000n }), nanos: fc.nat(NANOS_MAX) });
  const fits = ({ message: inner }: DescField): boolean => inner === undefined || depth < DEPTH_MAX;
  const single = message.fields.filter((field) => field.oneof === undefined && fits(field));
  const parts: Record<string, Arbitrary<unknown>> = {};
  for (const field of single) parts[field.localName] = fieldOf(field, depth);
  for (const { localName, fields } of message.oneofs) {
    const choices = fields.filter(fits).map((field) => {
      return valueOf(field, depth).map((value) => ({ case: field.localName, value }));
    });
    if (choices.length > 0) parts[localName] = fc.oneof(...choices);
  }
  return fc.record(parts, { requiredKeys: [] });
}

function fieldOf(field: DescField, depth: number): Arbitrary<unknown> {
  if (field.fieldKind === 'list') return fc.array(valueOf(field, depth), { maxLength: ITEMS_MAX });
  if (field.fieldKind === 'map') return fc.dictionary(text, valueOf(field, depth), { maxKeys: ITEMS_MAX });
  return valueOf(field, depth);
}

function valueOf(field: DescField, depth: number): Arbitrary<unknown> {
  if (field.message !== undefined) return initOf(field.message, depth + 1);
  if (field.enum !== undefined) return fc.constantFrom(...field.enum.values.map(({ number }) => number));
  switch (field.scalar) {
    case ScalarType.INT32:
      return INT32;
    case ScalarType.INT64:
      return INT64;
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 12 });
    case ScalarType.DOUBLE:
      // JSON has no negative zero
      return fc.double().map((value) => value + 0);
    case ScalarType.STRING:
      return text;
    default:
      throw new Error(`${field.name} has a type that this generator lacks; add it here`);
  }
}
