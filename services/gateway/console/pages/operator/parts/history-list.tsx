import type { VNode } from 'preact';
import type { RpcAnswer } from '../../../api/calls.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { localText, utcText } from '../../../parts/time.tsx';
import { evidenceWords } from '../evidence-words.ts';

const words = evidenceWords.evidence;

type Events = NonNullable<RpcAnswer<'tasks.OperatorService/ShowJob'>['record']>['events'];

/** The stored history of a task or a job, folded: every entry in its own words. */
export function HistoryList({ events, isOpen = false }: { events: Events; isOpen?: boolean }): VNode {
  return (
    <details open={isOpen}>
      <summary>{words.history(events.length)}</summary>
      <ol class="history">
        {events.map(({ at = '', type, detailJson }, index) => (
          <li key={index}>
            <time datetime={at} title={utcText(readTime(at))}>
              {localText(readTime(at))}
            </time>
            <strong>{type.replaceAll('_', ' ')}</strong>{' '}
            <span class="error-text">{detailText(detailJson === '' ? {} : JSON.parse(detailJson))}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** Writes `status: Processing, state: in_progress`. */
export function detailText(detail: unknown): string {
  if (detail === null || detail === undefined) return '';
  if (typeof detail === 'string') return detail;
  if (typeof detail !== 'object') return JSON.stringify(detail);
  return Object.entries(detail)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

/** Leads from a task or job to the decision that it waits for. */
export function AttentionNote({ id }: { id: string }): VNode {
  return (
    <p class="note">
      {evidenceWords.attention.waitsHere}{' '}
      <a href={`/console/attention?open=${encodeURIComponent(id)}`}>{evidenceWords.attention.decide}</a>
    </p>
  );
}
