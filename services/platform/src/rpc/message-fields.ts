import type { DescField } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';

/** A message, field by field. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reads a field of a message; undefined if its oneof has another field. */
export function readerOf({ localName, oneof }: DescField): (message: Fields) => unknown {
  if (oneof === undefined) return (message) => message[localName];
  return (message) => {
    const { case: chosen, value } = message[oneof.localName] as { readonly case?: string; readonly value?: unknown };
    return chosen === localName ? value : undefined;
  };
}

/** Whether a value counts as set: a field without presence is absent when it is zero. */
export function setTestOf(field: DescField): (value: unknown) => boolean {
  const isImplicit = field.fieldKind === 'list' || field.presence === FeatureSet_FieldPresence.IMPLICIT;
  return isImplicit ? isNotEmpty : isDefined;
}

function isDefined(value: unknown): boolean {
  return value !== undefined;
}

export function isNotEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return !('length' in value) || value.length !== 0;
  return value !== undefined && value !== '' && value !== 0 && value !== 0n && value !== false;
}
