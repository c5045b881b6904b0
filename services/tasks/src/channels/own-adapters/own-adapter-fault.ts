/** Names the file and line of an adapter that cannot be loaded, and the reason. */
export class OwnAdapterFault extends Error {
  override readonly name = 'OwnAdapterFault';

  constructor(file: string, line: number, reason: string) {
    super(`${file}:${line}: ${reason}`);
  }
}

/** Returns the line of a place in a text, from 1. */
export function countLine(text: string, at: number): number {
  return text.slice(0, Math.max(at, 0)).split('\n').length;
}
