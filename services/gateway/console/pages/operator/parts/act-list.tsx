import type { ComponentChildren, VNode } from 'preact';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { moneyText } from '../../../parts/number-text.tsx';
import { readTime } from '../../../parts/contract-values.ts';
import { Ago } from '../../../parts/time.tsx';
import { operatorWords } from '../operator-words.ts';
import type { RpcAnswer, RpcRequest } from '../../../api/calls.ts';
import { toCall } from '../../../state/calls.ts';

const words = operatorWords.acts;

/** The word of an act. `test/architecture/act-words.test.ts` compares them with those that the services record. */
export type ActWord = keyof typeof words.names;
/** The beginning of a word, such as `queue_`. */
type ActKind<Word = ActWord> = Word extends `${infer Kind}_${string}` ? `${Kind}_` : never;

const COLUMNS: readonly Column<Act>[] = [
  { name: words.when, cell: ({ at }) => <Ago at={readTime(at) ?? 0} /> },
  { name: words.who, cell: ({ actor }) => actor },
  {
    name: words.what,
    cell: (act) => (
      <>
        {nameAct(act)}
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

/** The name of an act for people; its word if a later version of a service wrote it. */
export function nameAct({ action }: Pick<Act, 'action'>): string {
  const word = toActWord(action);
  return word === undefined ? action : words.names[word];
}

function toActWord(action: string): ActWord | undefined {
  return Object.hasOwn(words.names, action) ? (action as ActWord) : undefined;
}

function isOfKind(action: string, kind: ActKind | ''): boolean {
  return action.startsWith(kind);
}

/** The address of the subject of an act, or undefined if the subject has no page. */
export function subjectHref({ action: word, subject }: Pick<Act, 'action' | 'subject'>): string | undefined {
  const id = encodeURIComponent(subject);
  const action = toActWord(word);
  if (action === 'attention_resolved')
    return subject.startsWith('task_') ? `/console/tasks/${id}` : `/console/jobs/${id}`;
  if (action === 'account_credited') return `/console/accounts/${id}`;
  if (action === 'queue_task_moved' || (action === 'queue_cancelled' && subject.startsWith('task_')))
    return `/console/tasks/${id}`;
  if (isOfKind(word, 'queue_')) return '/console/queue';
  if (isOfKind(word, 'note_')) return hrefOfNoted(subject);
  return isOfKind(word, 'channel_') ? `/console/channels/${id}` : undefined;
}

/** A note is on a task, a job or a channel. */
export function hrefOfNoted(subject: string): string {
  const page = subject.startsWith('task_') ? 'tasks' : subject.startsWith('job_') ? 'jobs' : 'channels';
  return `/console/${page}/${encodeURIComponent(subject)}`;
}

function renderSubject(act: Act): ComponentChildren {
  const href = subjectHref(act);
  if (toActWord(act.action) === 'ledger_verified') return null;
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

type ActsRequest = RpcRequest<'tasks.OperatorService/ListActs'>;
type ActsAnswer = RpcAnswer<'tasks.OperatorService/ListActs'>;

/** An act of an operator. */
export type Act = ActsAnswer['acts'][number];

export interface ActAnswers {
  readonly tasksActs?: ActsAnswer;
  readonly billingActs?: ActsAnswer;
}

/** The calls that read the acts of operators in both services. */
export function toActCalls(request: ActsRequest) {
  return {
    tasksActs: toCall('tasks.OperatorService/ListActs', request),
    billingActs: toCall('billing.AccountService/ListActs', request),
  };
}

/** Merges the acts of both services, the newest first. Returns undefined if one of them cannot be read now. */
export function mergeActs({ tasksActs, billingActs }: ActAnswers): readonly Act[] | undefined {
  if (tasksActs === undefined || billingActs === undefined) return undefined;
  // the ids of both services sort by time
  return [...tasksActs.acts, ...billingActs.acts].sort((one, other) => (one.id < other.id ? 1 : -1));
}

/** Lists the newest acts for a page; none if they cannot be read now. */
export function listActs(answers: ActAnswers, limit: number, kind: ActKind | '' = ''): readonly Act[] {
  return (mergeActs(answers) ?? []).filter(({ action }) => isOfKind(action, kind)).slice(0, limit);
}

/** The facts of an act, by their names. */
export function readDetail({ detailJson }: Act): Readonly<Record<string, unknown>> {
  return detailJson === '' ? {} : (JSON.parse(detailJson) as Readonly<Record<string, unknown>>);
}
