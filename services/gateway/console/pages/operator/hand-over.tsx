import type { ComponentChildren, VNode } from 'preact';
import { readTime } from '../../parts/contract-values.ts';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FaultLine, Loaded } from '../../parts/loaded.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Ago, At } from '../../parts/time.tsx';
import { announce } from '../../state/announce.ts';
import { readCalls, sendCall, toCall, useRpc } from '../../state/calls.ts';
import { useRead } from '../../state/use-view.ts';
import { describeFact, nameAct, subjectHref, toActCalls, mergeActs } from './parts/act-list.tsx';
import type { Act, ActAnswers } from './parts/act-list.tsx';
import { reasonText } from './parts/queue-list.tsx';
import { useOperator } from './parts/use-operator.ts';
import { handOverWords } from './hand-over-words.ts';
import type { RpcAnswer } from '../../api/calls.ts';

const TOPICS = ['attention', 'channels'] as const;
const words = handOverWords.handOver;
/** The most acts of each service that are read. */
export const ACTS_READ = 200;
const MINUTE_MS = 60_000;
const CONFIGURATION = 'configuration_applied';
/** The tasks service writes its own without a subject. */
const WRITER = 'tasks';

export function page(): VNode {
  const { name } = useOperator();
  const view = useRead({ key: 'hand-over', read: ({ signal }) => readHandOver(signal) }, TOPICS);
  return (
    <>
      <PageTitle title={words.title} />
      <Loaded view={view}>
        {({ handOver, ...acts }) => (
          <HandOverPage handOver={handOver} list={listEntries(handOver, acts)} you={name} onRead={view.refresh} />
        )}
      </Loaded>
    </>
  );
}

/** The acts are read after the mark, so that none before the mark is left out. */
async function readHandOver(signal: AbortSignal | undefined) {
  const handOver = await sendCall(toCall('tasks.OperatorService/GetHandOver', {}), signal);
  return { handOver, ...(await readCalls(toActCalls({ limit: ACTS_READ }), signal)) };
}

export interface HandOverPageProps {
  readonly handOver: HandOver;
  readonly list: HandOverList;
  /** The name of the visitor. */
  readonly you: string;
  readonly onRead: () => void;
}

export function HandOverPage({ handOver, list, you, onRead }: HandOverPageProps): VNode {
  const { since, readUntil, now = '' } = handOver;
  const { entries, hasMore, areActsUnread } = list;
  const { act, isBusy, fault } = useRpc('tasks.OperatorService/MarkHandOver', () => {
    announce(words.marked);
    onRead();
  });
  return (
    <>
      <p class="lead">
        {readUntil === undefined ? words.first : words.lead(you)} {words.since} <At at={readTime(since) ?? 0} />.
      </p>
      <div class="actions below">
        <button
          type="button"
          class="main"
          disabled={isBusy || entries.length === 0 || areActsUnread}
          onClick={() => act({ until: now })}
        >
          {words.mark}
        </button>
      </div>
      <FaultLine text={fault?.message} />
      {areActsUnread ? <p class="note">{words.actsUnread}</p> : null}
      {hasMore ? <p class="note">{words.more}</p> : null}
      <DataTable
        caption={words.entries}
        columns={listColumns(you)}
        rows={entries}
        keyOf={keyOfEntry}
        empty={<EmptyState title={words.none} text={words.noneText} />}
      />
    </>
  );
}

function keyOfEntry(entry: HandOverEntry): string {
  if (entry.kind === 'act') return entry.act.id;
  return entry.kind === 'raised' ? `${entry.at} ${entry.taskId}` : `${entry.at} ${entry.type} ${entry.subject}`;
}

function listColumns(you: string): readonly Column<HandOverEntry>[] {
  return [
    { name: words.when, cell: ({ at }) => <Ago at={at} /> },
    { name: words.what, isHead: true, cell: describeEntry },
    { name: words.about, cell: renderAbout },
    { name: words.who, cell: (entry) => describeActor(entry, you) },
    { name: words.why, cell: (entry) => (entry.kind === 'act' ? entry.act.reason || '–' : '–') },
  ];
}

function describeEntry(entry: HandOverEntry): ComponentChildren {
  if (entry.kind === 'event') return words.types[entry.type] ?? entry.type;
  if (entry.kind === 'raised')
    return (
      <>
        {words.raised(reasonText(entry.reason))}{' '}
        <span class="quiet">({entry.isOpen ? words.open : words.decided})</span>
      </>
    );
  return (
    <>
      {nameAct(entry.act)}
      {describeFact(entry.act)}
    </>
  );
}

function renderAbout(entry: HandOverEntry): ComponentChildren {
  if (entry.kind === 'event' && entry.services !== undefined) return words.services(entry.services);
  const [subject, href] = readSubject(entry);
  if (subject === '') return '–';
  return href === undefined ? (
    <code class="id">{subject}</code>
  ) : (
    <a class="id" href={href}>
      {subject}
    </a>
  );
}

function readSubject(entry: HandOverEntry): readonly [subject: string, href: string | undefined] {
  if (entry.kind === 'act') return [entry.act.subject, subjectHref(entry.act)];
  if (entry.kind === 'raised')
    return [entry.taskId, `/console/${entry.taskId.startsWith('job_') ? 'jobs' : 'tasks'}/${entry.taskId}`];
  return [entry.subject, `/console/channels/${encodeURIComponent(entry.subject)}`];
}

function describeActor(entry: HandOverEntry, you: string): string {
  if (entry.kind !== 'act') return words.byItself;
  return entry.act.actor === you ? words.you : entry.act.actor;
}

export type HandOver = RpcAnswer<'tasks.OperatorService/GetHandOver'>;

type ServiceEvent = HandOver['events'][number];

/** Something that happened, by what made it known. */
type HandOverEntry =
  | { readonly kind: 'act'; readonly at: number; readonly act: Act }
  | EventEntry
  | {
      readonly kind: 'raised';
      readonly at: number;
      readonly taskId: string;
      readonly reason: string;
      readonly isOpen: boolean;
    };

interface EventEntry {
  readonly kind: 'event';
  readonly at: number;
  readonly type: string;
  /** A channel. */
  readonly subject: string;
  /** The services that took a configuration up. */
  readonly services?: readonly string[];
}

export interface HandOverList {
  /** The newest first. */
  readonly entries: readonly HandOverEntry[];
  readonly hasMore: boolean;
  /** The acts of operators cannot be read now, so nothing should be marked as read. */
  readonly areActsUnread: boolean;
}

/** Merges what operators did, what services tell and what waits for a decision. A later act is read the next time. */
export function listEntries(handOver: HandOver, answers: ActAnswers): HandOverList {
  const [since, now] = [readTime(handOver.since) ?? 0, readTime(handOver.now) ?? 0];
  const all = mergeActs(answers);
  const acts = (all ?? []).slice(0, ACTS_READ).map((act) => ({ kind: 'act' as const, at: readTime(act.at) ?? 0, act }));
  const recent = acts.filter(({ at }) => at >= since && at <= now);
  const isCut = recent.length === ACTS_READ;
  const entries: HandOverEntry[] = [
    ...recent,
    ...mergeEvents(handOver.events),
    ...handOver.raised.map(({ at, taskId, reason, open }) => ({
      ...{ kind: 'raised' as const, at: readTime(at) ?? 0 },
      ...{ taskId, reason, isOpen: open },
    })),
  ];
  return {
    entries: entries.sort((one, other) => other.at - one.at),
    hasMore: handOver.hasMore || isCut,
    areActsUnread: all === undefined,
  };
}

/** Every service tells that it took a configuration up; those of one minute are one entry. */
function mergeEvents(events: readonly ServiceEvent[]): readonly EventEntry[] {
  const entries = events.map(({ at, type, subject }): EventEntry => ({
    kind: 'event',
    at: readTime(at) ?? 0,
    type,
    subject,
  }));
  const applied = Map.groupBy(
    entries.filter(({ type }) => type === CONFIGURATION),
    ({ at }) => Math.floor(at / MINUTE_MS),
  );
  const configurations = [...applied.values()].map((ofMinute): EventEntry => ({
    ...{ kind: 'event', type: CONFIGURATION, subject: '' },
    at: Math.max(...ofMinute.map(({ at }) => at)),
    services: ofMinute.map(({ subject }) => subject || WRITER).sort(),
  }));
  return [...configurations, ...entries.filter(({ type }) => type !== CONFIGURATION)];
}
