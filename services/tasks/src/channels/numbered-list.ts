import type { ListedWork } from './channel.ts';
import { readObject } from './json-fields.ts';
import type { UpstreamAnswer } from './upstream-http.ts';

const PAGES_MAX = 25;

/** A list that an upstream serves in numbered pages, each with `items` and perhaps the `total`. */
interface NumberedList {
  readonly page: (number: number) => Promise<UpstreamAnswer>;
  readonly toWork: (item: unknown) => ListedWork;
  /** Reports whether a page shows that only older work follows. */
  readonly isLast: (since: number, page: readonly ListedWork[]) => boolean;
}

/** Reads pages until the last. An unreadable page or too many pages make the whole list unreadable. */
export async function listSince(
  since: number,
  { page, toWork, isLast }: NumberedList,
): Promise<readonly ListedWork[] | undefined> {
  const works: ListedWork[] = [];
  let seen = 0;
  for (let number = 1; number <= PAGES_MAX; number += 1) {
    const answer = await page(number);
    if (answer.kind !== 'answer' || answer.status !== 200) return undefined;
    const { items, total } = readObject(answer.body);
    if (!Array.isArray(items)) return undefined;
    const read = items.map(toWork);
    seen += read.length;
    works.push(...read.filter(({ upstreamId, createdAt }) => upstreamId !== '' && createdAt >= since));
    if (read.length === 0 || seen === total || isLast(since, read)) return works;
  }
  return undefined;
}
