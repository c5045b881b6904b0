const META = /[\\^$.*+?()[\]{}|]/g;

/**
 * Replaces this id with another one in members called `model`, at any depth. Quotes in a JSON string are escaped, so
 * the pattern cannot match within a string. All other bytes stay.
 */
export function modelRenamer(from: string, to: string): (text: Buffer) => Buffer {
  if (from === to) return (text) => text;
  const needle = Buffer.from(JSON.stringify(from));
  const member = new RegExp(`("model"\\s*:\\s*)${JSON.stringify(from).replace(META, '\\$&')}`, 'g');
  const value = JSON.stringify(to);
  return (text) =>
    text.includes(needle) ? Buffer.from(text.toString().replace(member, (_, name: string) => name + value)) : text;
}
