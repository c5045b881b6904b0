import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

export type ReceivedValue = string | number | boolean;

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: the root of its trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: string;
  /** Milliseconds since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, ReceivedValue>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** Of the process. */
  readonly resource: Readonly<Record<string, ReceivedValue>>;
}

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const STATUS_ERROR = 2;

/** Reads an `ExportTraceServiceRequest` of OTLP in protobuf. */
export function spansIn(body: Uint8Array): ReceivedSpan[] {
  return [...messagesAt(body, 1)].flatMap((resourceSpans) => {
    const resource = Object.fromEntries(
      [...messagesAt(resourceSpans, 1)].flatMap((one) => [...messagesAt(one, 1)].map(keyValue)),
    );
    return [...messagesAt(resourceSpans, 2)].flatMap((scoped) =>
      [...messagesAt(scoped, 2)].map((span) => spanOf(span, resource)),
    );
  });
}

/** The fields of a message: number, and the value as the wire type gives it. */
function* fieldsOf(bytes: Uint8Array): Generator<readonly [number, Uint8Array | bigint | number]> {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    if (wire === WireType.LengthDelimited) yield [field, reader.bytes()];
    else if (wire === WireType.Varint) yield [field, BigInt(reader.int64())];
    else if (wire === WireType.Bit64) yield [field, BigInt(reader.fixed64())];
    else reader.skip(wire);
  }
}

function* messagesAt(bytes: Uint8Array, wanted: number): Generator<Uint8Array> {
  for (const [field, value] of fieldsOf(bytes)) if (field === wanted) yield value as Uint8Array;
}

function spanOf(bytes: Uint8Array, resource: ReceivedSpan['resource']): ReceivedSpan {
  const fields = [...fieldsOf(bytes)];
  const at = (wanted: number): unknown => fields.find(([field]) => field === wanted)?.[1];
  const all = (wanted: number): Uint8Array[] =>
    fields.flatMap(([field, value]) => (field === wanted ? [value as Uint8Array] : []));
  return {
    traceId: hex(at(1)),
    spanId: hex(at(2)),
    parentSpanId: hex(at(4)),
    name: text(at(5)),
    kind: KINDS[Number(at(6) ?? 0)] ?? '',
    startMs: Number(at(7) ?? 0) / 1e6,
    endMs: Number(at(8) ?? 0) / 1e6,
    failed: all(15).some((status) => [...fieldsOf(status)].some(([f, v]) => f === 3 && Number(v) === STATUS_ERROR)),
    attributes: Object.fromEntries(all(9).map(keyValue)),
    links: all(13).map((link) => {
      const [traceId, spanId] = [1, 2].map((wanted) => hex([...messagesAt(link, wanted)][0]));
      return { traceId: traceId!, spanId: spanId! };
    }),
    resource,
  };
}

function keyValue(bytes: Uint8Array): [string, ReceivedValue] {
  const [[, key] = [], [, value] = []] = [...fieldsOf(bytes)];
  return [text(key), valueOf(value as Uint8Array)];
}

function valueOf(bytes: Uint8Array): ReceivedValue {
  const reader = new BinaryReader(bytes);
  const [field] = reader.tag();
  if (field === 1) return reader.string();
  if (field === 2) return reader.bool();
  return field === 4 ? reader.double() : Number(reader.int64());
}

function hex(bytes: unknown): string {
  return bytes === undefined ? '' : Buffer.from(bytes as Uint8Array).toString('hex');
}

function text(bytes: unknown): string {
  return bytes === undefined ? '' : Buffer.from(bytes as Uint8Array).toString('utf8');
}
