import type { FindOutcome, ListedWork, LostAttempt, Steps } from '@reelgate/adapter-kit';
import { listPages, readCount, readObject } from '@reelgate/adapter-kit/kit';
import { isMarked, toMark } from './ark.extra.ts';
import { toListedWork } from './ark.report.ts';

const LIST_PAGE = 100;
/** The upstream dates its work in whole seconds, by its own clock. */
const SLACK_MS = 60_000;

interface MarkedWork extends ListedWork {
  readonly mark: number | undefined;
}

export function* listWork(path: string, since: number): Steps<readonly MarkedWork[] | undefined> {
  return yield* listPages<MarkedWork>(since, {
    build: ({ number }) => ({ method: 'GET', path: `${path}?page_num=${number}&page_size=${LIST_PAGE}` }),
    read: ({ items, total }) => ({ items, total }),
    toWork: (item) => ({ ...toListedWork(item), mark: readCount(readObject(item)['execution_expires_after']) }),
    isLast: isSortedPast,
  });
}

/**
 * Searches the list for the mark of an attempt. An attempt that no work of its time has is said to have never arrived only
 * if the list shows the marks of all of them.
 */
export function* findByMark(path: string, { key, extra, startedAt, endedAt }: LostAttempt): Steps<FindOutcome> {
  if (!isMarked(extra)) return { outcome: 'cannot know', why: 'the client chose when the work expires' };
  const works = yield* listWork(path, startedAt - SLACK_MS);
  if (works === undefined) return { outcome: 'cannot know', why: 'the list cannot be read' };
  const ofTheTime = works.filter(({ createdAt }) => createdAt <= endedAt + SLACK_MS);
  const [found, second] = ofTheTime.filter(({ mark }) => mark === toMark(key));
  if (second !== undefined) return { outcome: 'cannot know', why: 'more than one work has the mark of the attempt' };
  if (found !== undefined) return { outcome: 'accepted', upstreamId: found.upstreamId };
  return ofTheTime.every(({ mark }) => mark !== undefined)
    ? { outcome: 'never arrived' }
    : { outcome: 'cannot know', why: 'the list does not show when work expires' };
}

/**
 * The reference does not say how the list is sorted. It is read to its end, unless a page shows that older work
 * follows.
 */
function isSortedPast(page: readonly ListedWork[], since: number): boolean {
  return (
    page.every(({ createdAt }, index) => createdAt <= (page[index - 1]?.createdAt ?? Infinity)) &&
    (page.at(-1)?.createdAt ?? since) < since
  );
}
