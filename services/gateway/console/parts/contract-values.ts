/** Reads a time of the contract's JSON as milliseconds since 1970. Returns undefined if there is none. */
export function readTime(time: string): number;
export function readTime(time: string | undefined): number | undefined;
export function readTime(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}
