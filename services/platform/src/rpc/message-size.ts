import { ScalarType } from '@bufbuild/protobuf';
import type { DescField, DescMessage, DescOneof, UnknownField } from '@bufbuild/protobuf';

/** A tag, a length and a number. */
const FIELD_BYTES_MAX = 24;
/** The maximum number of bytes of one UTF-16 unit in UTF-8. */
const UNIT_BYTES_MAX = 3;

/**
 * Returns the maximum number of bytes that a message, or a value for `create`, can have on the wire. Writing it would
 * cost many times as much as this, which counts each text at its longest.
 */
export type MeasureMessage = (message: object) => number;

type Measure = (value: unknown) => number;
type Fields = Readonly<Record<string, unknown>>;

const COMPILED = new WeakMap<DescMessage, MeasureMessage>();

/** Compiles each type once. */
export function compileMeasure(type: DescMessage): MeasureMessage {
  const known = COMPILED.get(type);
  if (known !== undefined) return known;
  const measure = compileFields(type);
  COMPILED.set(type, measure);
  return measure;
}

function compileFields({ members }: DescMessage): MeasureMessage {
  // A number is no larger than the size that is counted for its field, set or not.
  const fieldsBytes = members.length * FIELD_BYTES_MAX;
  const texts = members.flatMap((member) => (isText(member) ? [member.localName] : []));
  const others = members.flatMap((member): (readonly [string, Measure])[] => {
    if (isText(member)) return [];
    const measure = member.kind === 'oneof' ? compileChoice(member) : compileField(member);
    return measure === undefined ? [] : [[member.localName, measure]];
  });
  return (message) => {
    const values = message as Fields;
    let bytes = fieldsBytes;
    for (const name of texts) bytes += measureText(values[name] ?? '');
    for (const [name, measure] of others) {
      const value = values[name];
      if (value !== undefined) bytes += measure(value);
    }
    return values['$unknown'] === undefined ? bytes : bytes + measureUnknown(values['$unknown']);
  };
}

function isText(member: DescField | DescOneof): boolean {
  return member.kind === 'field' && member.fieldKind === 'scalar' && member.scalar === ScalarType.STRING;
}

const measureText: Measure = (text) => (text as string).length * UNIT_BYTES_MAX;
const measureBytes: Measure = (bytes) => (bytes as Uint8Array).byteLength;
const measureUnknown: Measure = (fields) =>
  (fields as readonly UnknownField[]).reduce((sum, { data }) => sum + FIELD_BYTES_MAX + data.byteLength, 0);

/** Returns undefined if the values of the field are no larger than a number. */
function compileField(field: DescField): Measure | undefined {
  const measureValue = compileValue(field);
  const measure = measureValue ?? (() => 0);
  switch (field.fieldKind) {
    case 'list':
      return (items) =>
        (items as readonly unknown[]).reduce<number>((sum, item) => sum + FIELD_BYTES_MAX + measure(item), 0);
    case 'map':
      return (map) =>
        Object.entries(map as Fields).reduce(
          (sum, [key, value]) => sum + 3 * FIELD_BYTES_MAX + measureText(key) + measure(value),
          0,
        );
    default:
      return measureValue;
  }
}

function compileValue({ message, scalar }: DescField): Measure | undefined {
  // Compiled with its first value, because a type can have fields of its own type.
  if (message !== undefined) return (value) => compileMeasure(message)(value as object);
  if (scalar === ScalarType.STRING) return measureText;
  return scalar === ScalarType.BYTES ? measureBytes : undefined;
}

function compileChoice({ fields }: DescOneof): Measure {
  const measures = new Map(fields.map((field) => [field.localName, compileField(field)]));
  return (choice) => {
    const { case: name = '', value } = choice as { readonly case?: string; readonly value?: unknown };
    return measures.get(name)?.(value) ?? 0;
  };
}
