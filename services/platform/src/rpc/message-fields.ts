import { ScalarType } from '@bufbuild/protobuf';
import type { DescField } from '@bufbuild/protobuf';
import { scalarZeroValue } from '@bufbuild/protobuf/reflect';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';

/** A message, field by field. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reads a field of a message. Returns undefined if its oneof has another field. */
export function newFieldReader({ localName, oneof }: DescField): (message: Fields) => unknown {
  if (oneof === undefined) return (message) => message[localName];
  return (message) => {
    const { case: chosen, value } = message[oneof.localName] as { readonly case?: string; readonly value?: unknown };
    return chosen === localName ? value : undefined;
  };
}

/** Creates the test of whether a value is set. A field without presence counts as absent when it is zero. */
export function newPresenceTest(field: DescField): (value: unknown) => boolean {
  if (field.fieldKind === 'list') return hasItems;
  return field.presence === FeatureSet_FieldPresence.IMPLICIT ? newNonZeroTest(field) : isDefined;
}

/** Creates the same test for an item of a list, which is always present. */
export function newNonZeroTest({ scalar, fieldKind }: DescField): (value: unknown) => boolean {
  if (fieldKind === 'map') return hasKeys;
  if (scalar === ScalarType.BYTES) return hasItems;
  const zero = scalar === undefined ? 0 : scalarZeroValue(scalar, false);
  return (value) => value !== undefined && value !== zero;
}

function isDefined(value: unknown): boolean {
  return value !== undefined;
}

function hasItems(value: unknown): boolean {
  return (value as { readonly length: number }).length !== 0;
}

function hasKeys(value: unknown): boolean {
  return Object.keys(value as object).length !== 0;
}
