import type { VNode } from 'preact';
import type { TaskRecord } from '../../../api/operator-tasks.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { At, spanText } from '../../../parts/time.tsx';
import { evidenceWords } from '../evidence-words.ts';

const words = evidenceWords.evidence;
type Attempt = TaskRecord['attempts'][number];
const NONE = '–';

const SHAPES: Readonly<Record<string, readonly [string, string]>> = {
  accepted: ['●', 'good'],
  refused: ['✕', 'bad'],
  unknown: ['?', 'busy'],
};

const COLUMNS: readonly Column<Attempt>[] = [
  { name: words.number, cell: ({ number }) => number, isHead: true },
  { name: words.channel, cell: ({ channel }) => <span class="id">{channel}</span> },
  { name: words.outcome, cell: ({ outcome }) => renderOutcome(outcome) },
  { name: words.answered, cell: ({ error }) => (error === '' ? NONE : <span class="error-text">{error}</span>) },
  {
    name: words.upstreamId,
    cell: ({ upstreamId }) => <span class="id">{upstreamId === '' ? NONE : upstreamId}</span>,
  },
  { name: words.began, cell: ({ startedAt }) => <At at={readTime(startedAt) ?? 0} /> },
  {
    name: words.took,
    isNumber: true,
    cell: ({ startedAt, endedAt }) =>
      endedAt === undefined ? NONE : spanText(readTime(endedAt) - (readTime(startedAt) ?? 0)),
  },
];

/** Every try of a task on a channel, and what the upstream answered. */
export function AttemptTable({ attempts }: { attempts: readonly Attempt[] }): VNode {
  return (
    <DataTable
      caption={words.attempts}
      columns={COLUMNS}
      rows={attempts}
      keyOf={({ number }) => String(number)}
      empty={words.noAttempts}
    />
  );
}

function renderOutcome(outcome: string): VNode {
  const [shape, style] = SHAPES[outcome] ?? ['○', 'quiet'];
  return (
    <span class={`state ${style}`}>
      <span aria-hidden="true">{shape}</span> {words.outcomes[outcome] ?? outcome}
    </span>
  );
}
