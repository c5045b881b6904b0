import { ScalarType, createRegistry, isMessage, toJson } from '@bufbuild/protobuf';
import type { DescField, DescFile, DescMessage, Message } from '@bufbuild/protobuf';
import { TimestampSchema, timestampDate } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { findWord } from '@reelgate/platform/rpc/enum-words';
import { CONTRACTS } from '../contracts.ts';
import { formatNanos } from './quantities.ts';

const registry = createRegistry(...Object.values(CONTRACTS).flatMap(({ file }) => listFiles(file)));

function listFiles(file: DescFile): readonly DescFile[] {
  return [file, ...file.dependencies.flatMap(listFiles)];
}

function findSchema({ $typeName }: Message): DescMessage {
  const schema = registry.getMessage($typeName);
  if (schema === undefined) throw new Error(`no contract of a called service has ${$typeName}`);
  return schema;
}

/** Writes the messages of an answer, wherever they are in it, as the JSON of their contract. */
export function toContractJson(answer: unknown): unknown {
  return mapMessages(answer, (message) => toJson(findSchema(message), message, { alwaysEmitImplicit: true }));
}

/**
 * Writes the messages of an answer as objects for a person: enums as words, amounts as decimals, times as ISO 8601, and
 * no field that is empty.
 */
export function toReadable(answer: unknown): unknown {
  return mapMessages(answer, (message) => describeFields(findSchema(message), message));
}

function mapMessages(answer: unknown, write: (message: Message) => unknown): unknown {
  if (isMessage(answer)) return write(answer);
  if (Array.isArray(answer)) return answer.map((each: unknown) => mapMessages(each, write));
  if (typeof answer !== 'object' || answer === null) return answer;
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, mapMessages(value, write)]));
}

function describeFields(schema: DescMessage, message: Message): object {
  const described = schema.fields.map(
    (field) => [labelField(field), describeValue(field, readField(field, message))] as const,
  );
  return Object.fromEntries(described.filter(([, value]) => !isEmpty(value)));
}

/** The name of a field, in which amounts do not name their unit. */
export function labelField({ name }: DescField): string {
  return name.replace(/_nanos$/, '');
}

export function isTime(field: DescField): boolean {
  return field.fieldKind === 'message' && field.message.typeName === TimestampSchema.typeName;
}

/** Finds the field at the end of a path such as `task.order.model`. */
export function findField(schema: DescMessage, path: string): DescField {
  const [name = '', ...rest] = path.split('.');
  const field = schema.field[name];
  if (field === undefined) throw new Error(`${schema.typeName} has no field ${name}`);
  if (rest.length === 0) return field;
  if (field.fieldKind !== 'message') throw new Error(`${name} of ${schema.typeName} is not a message`);
  return findField(field.message, rest.join('.'));
}

/** Writes the value of a field for a cell of a table. */
export function formatField(field: DescField, value: unknown): string {
  const described = describeValue(field, value);
  if (typeof described === 'boolean') return described ? 'yes' : 'no';
  if (Array.isArray(described)) return described.join(',');
  return isEmpty(described) ? '' : String(described);
}

function readField({ oneof, localName }: DescField, message: Message): unknown {
  const members = message as unknown as Readonly<Record<string, unknown>>;
  if (oneof === undefined) return members[localName];
  const { case: set, value } = members[oneof.localName] as { readonly case?: string; readonly value?: unknown };
  return set === localName ? value : undefined;
}

function describeValue(field: DescField, value: unknown): unknown {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return value.map((each) => describeSingle(field, each));
  if (field.fieldKind !== 'map') return describeSingle(field, value);
  return Object.fromEntries(Object.entries(value as object).map(([key, each]) => [key, describeSingle(field, each)]));
}

function describeSingle(field: DescField, value: unknown): unknown {
  if (field.enum !== undefined) return findWord(field.enum, value as number);
  if (isTime(field)) return timestampDate(value as Timestamp).toISOString();
  if (field.message !== undefined) return describeFields(field.message, value as Message);
  if (field.scalar === ScalarType.BYTES) return undefined;
  if (typeof value !== 'bigint') return value;
  return field.name.endsWith('_nanos') ? formatNanos(value) : String(value);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
}
