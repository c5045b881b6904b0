/** A tag, a length and a number. */
const FIELD_BYTES_MAX = 24;
/** Of one UTF-16 unit in UTF-8. */
const UNIT_BYTES_MAX = 3;

/**
 * Reports whether a message, or a value for `create`, may have more bytes on the wire. Writing it would cost many times
 * as much as this, which counts each text at its longest.
 */
export function mayBeLarger(message: unknown, bytes: number): boolean {
  return bytes !== Infinity && measureUpTo(message, bytes) > bytes;
}

/**
 * The most bytes that a value can have on the wire. What is above `bytesMax` is not counted to its end. Each name counts,
 * because the names of a map are on the wire.
 */
export function measureUpTo(value: unknown, bytesMax: number): number {
  if (typeof value === 'string') return FIELD_BYTES_MAX + value.length * UNIT_BYTES_MAX;
  if (value instanceof Uint8Array) return FIELD_BYTES_MAX + value.byteLength;
  if (typeof value !== 'object' || value === null) return FIELD_BYTES_MAX;
  let bytes = FIELD_BYTES_MAX;
  for (const name in value) {
    if (bytes > bytesMax) return bytes;
    bytes += name.length * UNIT_BYTES_MAX;
    bytes += measureUpTo((value as Readonly<Record<string, unknown>>)[name], bytesMax - bytes);
  }
  return bytes;
}
