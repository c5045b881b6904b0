/** The parts of generated files. Numbers are written with the largest byte first. */
export function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32BE(value, 4 * index));
  return bytes;
}

export function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  values.forEach((value, index) => bytes.writeUInt16BE(value, 2 * index));
  return bytes;
}

export function ascii(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** A box of an MP4: its length, its name and its content. */
export function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.byteLength + 8), ascii(type), body]);
}

export function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(' ', ''), 'hex');
}
