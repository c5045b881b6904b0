const META = /[\\^$.*+?()[\]{}|]/g;

/**
 * Puts another id where a text names this one as the value of a member called `model`. Within a JSON string every quote is escaped, so
 * the pattern cannot match in what somebody said. All other bytes stay.
 */
export function modelRenamer(from: string, to: string): (text: Buffer) => Buffer {
  if (from === to) return (text) => text;
  const needle = Buffer.from(JSON.stringify(from));
  const member = new RegExp(`("model"\\s*:\\s*)${JSON.stringify(from).replace(META, '\\$&')}`, 'g');
  const value = JSON.stringify(to);
  return (text) =>
    text.includes(needle) ? Buffer.from(text.toString().replace(member, (_, name: string) => name + value)) : text;
}
