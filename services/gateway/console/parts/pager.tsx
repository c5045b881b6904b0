import type { VNode } from 'preact';
import { words } from '../words.ts';

export interface PagerProps {
  /** The address of the list. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The row after which the next page begins; undefined if there is no next page. */
  readonly after: string | undefined;
  /** The text of the link to the next page. */
  readonly older?: string;
}

/** Links to the next page and back to the first. Pages are found by the last row, so none is counted. */
export function Pager({ path, query, after, older = words.pages.older }: PagerProps): VNode | null {
  const isFirst = !query.has('after');
  if (isFirst && after === undefined) return null;
  return (
    <p class="pager">
      {isFirst ? null : (
        <a class="button" href={toPageAddress(path, query, undefined)}>
          {words.pages.newest}
        </a>
      )}
      {after === undefined ? null : (
        <a class="button" href={toPageAddress(path, query, after)}>
          {older}
        </a>
      )}
    </p>
  );
}

/** The same list from another row on. */
function toPageAddress(path: string, query: URLSearchParams, after: string | undefined): string {
  const next = new URLSearchParams(query);
  next.delete('after');
  if (after !== undefined) next.set('after', after);
  const text = next.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Says that new rows wait, and lets them in. The place is there before it is needed, so nothing moves. */
export function NewRows({ count, onAccept }: { count: number; onAccept: () => void }): VNode {
  return (
    <p class="new-rows" role="status">
      {count === 0 ? null : (
        <button type="button" onClick={onAccept}>
          {words.live.newRows(count)}
        </button>
      )}
    </p>
  );
}
