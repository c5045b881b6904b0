import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** The parts of a file that never ran, each from its first character to the one after its last. */
export type Unreached = readonly (readonly [number, number])[];

/** The files that were loaded, from the root of the repository. */
export type Coverage = Readonly<Record<string, Unreached>>;

/** What V8 writes. The inner ranges say more than those around them. */
interface Script {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** Reads which parts of some files ran in a process, from the folder that NODE_V8_COVERAGE named. */
export function readCoverage(folder: string, root: string, files: readonly string[]): Coverage {
  const scripts = readdirSync(folder).flatMap(
    (name) => (JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as { result: readonly Script[] }).result,
  );
  return Object.fromEntries(
    files.flatMap((file) => {
      const url = pathToFileURL(path.join(root, file)).href;
      const ranges = scripts.filter((script) => script.url === url).flatMap(({ functions }) => functions);
      return ranges.length === 0 ? [] : [[file, listUnreached(ranges.flatMap((of) => of.ranges))]];
    }),
  );
}

/** Reports whether a character of a file ran. Node strips types without moving the rest, so places stay the same. */
export function isReached(coverage: Coverage, file: string, at: number): boolean {
  const unreached = coverage[file];
  return unreached !== undefined && !unreached.some(([start, end]) => start <= at && at < end);
}

export function listUnreached(ranges: readonly Range[]): Unreached {
  const length = Math.max(0, ...ranges.map(({ endOffset }) => endOffset));
  const counts = new Array<number>(length).fill(0);
  const sizeOf = ({ startOffset, endOffset }: Range): number => endOffset - startOffset;
  for (const { startOffset, endOffset, count } of ranges.toSorted((one, other) => sizeOf(other) - sizeOf(one)))
    counts.fill(count, startOffset, endOffset);
  const unreached: [number, number][] = [];
  for (const [at, count] of counts.entries()) {
    const last = unreached.at(-1);
    if (count > 0) continue;
    if (last?.[1] === at) last[1] = at + 1;
    else unreached.push([at, at + 1]);
  }
  return unreached;
}
