import type { ComponentChildren, VNode } from 'preact';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { moneyText } from '../../../parts/number-text.tsx';
import { readTime } from '../../../parts/contract-values.ts';
import { Ago } from '../../../parts/time.tsx';
import { operatorWords } from '../operator-words.ts';
import { readDetail } from './acts.ts';
import type { Act } from './acts.ts';

const words = operatorWords.acts;

const COLUMNS: readonly Column<Act>[] = [
  { name: words.when, cell: ({ at }) => <Ago at={readTime(at) ?? 0} /> },
  { name: words.who, cell: ({ actor }) => actor },
  {
    name: words.what,
    cell: (act) => (
      <>
        {words.names[act.action] ?? act.action}
        {renderSubject(act)}
        {describeFact(act)}
      </>
    ),
  },
  { name: words.why, cell: ({ reason }) => (reason === '' ? '–' : reason) },
];

/** Shows the acts of operators, each with its actor and time. */
export function ActList({ acts, title = words.title }: { acts: readonly Act[]; title?: string }): VNode {
  return (
    <section>
      <h2>{title}</h2>
      <DataTable caption={title} columns={COLUMNS} rows={acts} keyOf={({ id }) => id} empty={words.none} />
    </section>
  );
}

/** The address of the subject of an act, or undefined if the subject has no page. */
export function subjectHref({ action, subject }: Pick<Act, 'action' | 'subject'>): string | undefined {
  const id = encodeURIComponent(subject);
  if (action === 'attention_resolved')
    return subject.startsWith('task_') ? `/console/tasks/${id}` : `/console/jobs/${id}`;
  if (action === 'account_credited') return `/console/accounts/${id}`;
  if (action === 'queue_task_moved' || (action === 'queue_cancelled' && subject.startsWith('task_')))
    return `/console/tasks/${id}`;
  if (action.startsWith('queue_')) return '/console/queue';
  if (action.startsWith('note_')) return hrefOfNoted(subject);
  return action.startsWith('channel_') ? `/console/channels/${id}` : undefined;
}

/** A note is on a task, a job or a channel. */
export function hrefOfNoted(subject: string): string {
  const page = subject.startsWith('task_') ? 'tasks' : subject.startsWith('job_') ? 'jobs' : 'channels';
  return `/console/${page}/${encodeURIComponent(subject)}`;
}

function renderSubject(act: Act): ComponentChildren {
  const href = subjectHref(act);
  if (act.action === 'ledger_verified') return null;
  return href === undefined ? (
    <>
      {' '}
      <code class="id">{act.subject}</code>
    </>
  ) : (
    <>
      {' '}
      <a class="id" href={href}>
        {act.subject}
      </a>
    </>
  );
}

/** The fact of an act that a reader wants first. */
export function describeFact(act: Act): string {
  const { amount, currency, resolution, ok } = readDetail(act);
  if (typeof amount === 'string' && typeof currency === 'string') return `: ${moneyText(amount, currency)}`;
  if (typeof resolution === 'string') {
    const known: Readonly<Record<string, string>> = operatorWords.resolutions;
    return `: ${known[resolution] ?? resolution}`;
  }
  if (typeof ok === 'boolean') return ok ? `: ${words.passed}` : `: ${words.failed}`;
  return '';
}
