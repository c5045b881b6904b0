/*
 * Values for the cases that must hold for any input. They come from a fixed seed, so that each run of the suite draws
 * the same ones, and a failure comes back.
 */

/** Draws whole numbers from 0 to below `limit`. */
export type Draw = (limit: number) => number;

const DEPTH_MAX = 3;
const MEMBERS_MAX = 4;
const SCALARS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  1.5,
  -1e9,
  1e300,
  2 ** 53,
  '',
  ' ',
  '0',
  'null',
  'a text',
  'ü\u0000\u2028',
  '../../admin?x=1#y',
  'http://169.254.169.254/latest',
  'x'.repeat(5000),
];
const KEYS: readonly string[] = ['', 'a', 'id', 'status', 'error', 'data', '__proto__', 'constructor', 'toString', '0'];

/** Returns draws from a seed (a xorshift generator). */
export function drawFrom(seed: number): Draw {
  let state = seed || 1;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

export function pickOne<T>(draw: Draw, values: readonly T[]): T {
  return values[draw(values.length)] as T;
}

/** Draws any JSON value of a bounded depth. */
export function drawJson(draw: Draw, depth = 0): unknown {
  const form = depth < DEPTH_MAX ? draw(4) : 0;
  if (form < 2) return pickOne(draw, SCALARS);
  const inner = Array.from({ length: draw(MEMBERS_MAX + 1) }, () => drawJson(draw, depth + 1));
  if (form === 2) return inner;
  return Object.fromEntries(inner.map((value) => [pickOne(draw, KEYS), value]));
}

/** Draws a JSON text with the value of one of its keys replaced, wherever the key stands. */
export function mutateJson(draw: Draw, text: string): unknown {
  const keys: readonly string[] = text.match(/"[A-Za-z_]+":/g) ?? ['"":'];
  const key = pickOne(draw, keys);
  const value = drawJson(draw);
  return JSON.parse(text, (name, old: unknown) => (`"${name}":` === key ? value : old)) as unknown;
}
