import type { ComponentChildren, VNode } from 'preact';
import type { RpcAnswer } from '../../api/calls.ts';
import type { PageProps } from '../../frame.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { readTime } from '../../parts/contract-values.ts';
import { Ago, clockText, spanText } from '../../parts/time.tsx';
import { toCall, useCalls } from '../../state/calls.ts';
import { serverNow } from '../../state/api.ts';
import { operatorWords } from './operator-words.ts';
import { booksWords } from './books-words.ts';
import { workWords } from './work-words.ts';
import { ActList, listActs, toActCalls } from './parts/act-list.tsx';
import type { Act } from './parts/act-list.tsx';
import { ChannelCard } from './parts/channel-card.tsx';
import { modelsOfItAlone, useChannels } from './parts/channel-rows.ts';
import type { ChannelRow } from './parts/channel-rows.ts';
import { countChannelFaults, listAnswers, sumLastHour } from './parts/channel-hour.ts';
import type { AnswerMinute } from './parts/channel-hour.ts';
import { ContractList } from './parts/contract-list.tsx';
import { MarginTable } from './parts/margin-table.tsx';
import { NoteSection } from './parts/note-section.tsx';
import type { OperatorNote } from './parts/note-section.tsx';
import type { QueueLane } from './waiting.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { queueWords } from './queue-words.ts';
import { channelWords } from './channel-words.ts';
import { useOperator } from './parts/use-operator.ts';

const ACTS_SHOWN = 20;
const TOPICS = ['channels', 'now'] as const;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const words = channelWords.channel;

/** The most failures that the page shows. */
const FAILURES_SHOWN = 20;
const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const STEP = 10;
const HEIGHT = 120;
const DOT = 2.5;

type Margins = RpcAnswer<'billing.AccountService/GetMoney'>['margins'];
type Contracts = RpcAnswer<'billing.AccountService/ListPrices'>['contracts'];
type Failure = RpcAnswer<'tasks.OperatorService/ListChannelFailures'>['failures'][number];

const FAILURES: readonly Column<Failure>[] = [
  { name: words.when, cell: ({ at }) => <Ago at={readTime(at)} /> },
  { name: words.what, cell: ({ kind }) => words.kinds[kind] ?? kind },
  { name: words.error, isHead: true, cell: ({ error }) => <span class="error-text">{error}</span> },
  {
    name: words.task,
    cell: ({ taskId }) =>
      taskId === '' ? (
        '–'
      ) : (
        <a class="id" href={`/console/tasks/${encodeURIComponent(taskId)}`}>
          {taskId}
        </a>
      ),
  },
];
const LANES: readonly Column<QueueLane>[] = [
  { name: queueWords.model, isHead: true, cell: ({ model }) => model || queueWords.scheduled },
  { name: queueWords.class, cell: (lane) => queueWords.classes[lane.class] || '–' },
  { name: words.waiting, isNumber: true, cell: ({ waiting }) => waiting },
  { name: words.oldest, cell: ({ oldestSince }) => <Ago at={readTime(oldestSince) ?? 0} /> },
  { name: words.turns, isNumber: true, cell: ({ startsPerMinute }) => Number(startsPerMinute).toFixed(1) },
  { name: words.why, cell: ({ reason }) => queueWords.reasons[reason] || '–' },
];
const ANSWERS: readonly Column<AnswerMinute>[] = [
  { name: words.minute, isHead: true, cell: ({ at }) => clockText(at) },
  { name: words.half, isNumber: true, cell: ({ p50 }) => spanText(p50) },
  { name: words.most, isNumber: true, cell: ({ p95 }) => spanText(p95) },
];

export function page({ params }: PageProps): VNode {
  const id = params['channelId'] ?? '';
  const { ofTasks, ofRelay, rows, refresh } = useChannels(TOPICS);
  const canOperate = useOperator().covers('operator');
  const row = rows.find(({ channel }) => channel.id === id);
  const acts = useCalls({}, TOPICS, toActCalls({ subject: id, limit: ACTS_SHOWN }));
  const records = useCalls({}, TOPICS, {
    money: toCall('billing.AccountService/GetMoney', toLastDay(serverNow())),
    prices: toCall('billing.AccountService/ListPrices', {}),
    failures: toCall('tasks.OperatorService/ListChannelFailures', { channel: id, limit: FAILURES_SHOWN }),
    notes: toCall('tasks.OperatorService/ListNotes', { subject: id }),
    queue: toCall('tasks.QueueService/ListQueue', {}),
  });
  const { money, prices, notes, failures, queue } = records.data ?? {};
  const onChanged = (): void => {
    refresh();
    records.refresh();
    acts.refresh();
  };
  return (
    <>
      <PageTitle title={words.title} id={id} back={{ href: '/console/channels', name: words.back }} />
      <Loaded
        view={row?.isRelay === true || ofRelay.error !== undefined ? ofRelay : ofTasks}
        alongside={[ofRelay, records, acts]}
      >
        {() =>
          row === undefined ? (
            <p class="note">{words.unknown}</p>
          ) : (
            <ChannelPage
              row={row}
              onlyFor={modelsOfItAlone(row, rows)}
              canOperate={canOperate}
              margins={money?.margins.filter(({ channel }) => channel === id)}
              contracts={prices && listPrices(prices.contracts, row.channel.models)}
              failures={failures?.failures}
              notes={notes?.notes}
              lanes={queue?.lanes.filter(({ channels }) => channels.some((one) => one.id === id))}
              acts={listActs(acts.data ?? {}, ACTS_SHOWN)}
              onChanged={onChanged}
            />
          )
        }
      </Loaded>
    </>
  );
}

export interface ChannelPageProps {
  readonly row: ChannelRow;
  /** The models that no other channel in use serves. */
  readonly onlyFor: readonly string[];
  readonly canOperate: boolean;
  /** Of the last day; undefined if they cannot be read. */
  readonly margins: Margins | undefined;
  /** The prices of its models now, undefined if they cannot be read. */
  readonly contracts: Contracts | undefined;
  /** The last failures, the newest first; undefined if they cannot be read. */
  readonly failures: readonly Failure[] | undefined;
  /** Undefined if they cannot be read. */
  readonly notes: readonly OperatorNote[] | undefined;
  /** The lanes that the channel serves, undefined if they cannot be read. */
  readonly lanes: readonly QueueLane[] | undefined;
  readonly acts: readonly Act[];
  readonly onChanged: () => void;
}

export function ChannelPage(props: ChannelPageProps): VNode {
  const { row, onlyFor, canOperate, margins, contracts, failures, notes, lanes, acts, onChanged } = props;
  const now = serverNow();
  const { channel, hour } = row;
  const minutes = hour?.minutes ?? [];
  const faults = sumLastHour(minutes, now, countChannelFaults);
  return (
    <>
      {canOperate ? null : (
        <p class="quiet" id="may-not-operate">
          {operatorWords.needsRole('operator', workWords.channels.needed)}
        </p>
      )}
      <div class="channel-top">
        <ChannelCard row={row} canOperate={canOperate} onlyFor={onlyFor} onChanged={onChanged} isAlone />
        <div>
          <h2>{words.failures}</h2>
          <Part of={failures}>
            {(rows: readonly Failure[]) => (
              <DataTable
                caption={words.failures}
                columns={FAILURES}
                rows={rows}
                keyOf={({ at, taskId, kind, error }) => `${at ?? ''} ${taskId} ${kind} ${error}`}
                empty={words.noFailures}
              />
            )}
          </Part>
          {faults.every((count) => count === 0) ? null : (
            <>
              <h3>{words.faults}</h3>
              <Sparkline values={faults} />
              <p class="small quiet">{workWords.now.hour(words.faultsCounted, faults)}</p>
            </>
          )}
        </div>
      </div>
      {notes === undefined ? null : <NoteSection subject={channel.id} notes={notes} onChanged={onChanged} />}
      <h2>{words.latency}</h2>
      <Latency answers={listAnswers(minutes)} now={now} />
      <h2>{words.queue}</h2>
      <Part of={lanes}>
        {(rows: readonly QueueLane[]) => (
          <DataTable
            caption={words.queue}
            columns={LANES}
            rows={rows}
            keyOf={(lane) => JSON.stringify([lane.model, lane.kind, lane.class])}
            empty={words.noQueue}
          />
        )}
      </Part>
      <h2>{words.margin}</h2>
      <p class="small quiet">
        {booksWords.money.marginsNote}
        <a href={`/console/money/margins?split=channel&key=${encodeURIComponent(channel.id)}`}>
          {booksWords.money.overTime}
        </a>
      </p>
      <Part of={margins}>{(rows: Margins) => <MarginTable margins={rows} />}</Part>
      <h2>{words.prices}</h2>
      <Part of={contracts}>
        {(rows: Contracts) =>
          rows.length === 0 ? <p class="quiet">{words.noPrices}</p> : <ContractList contracts={rows} />
        }
      </Part>
      <ActList acts={acts} />
    </>
  );
}

/** The last day, to the end of the running hour: the books count whole hours. */
export function toLastDay(now: number): { readonly from: string; readonly to: string } {
  const to = Math.ceil(now / HOUR_MS) * HOUR_MS;
  return { from: new Date(to - DAY_MS).toISOString(), to: new Date(to).toISOString() };
}

/** The key of a contract is a model, or a model and an operation behind two underscores. */
export function listPrices(contracts: Contracts, models: readonly string[]): Contracts {
  return contracts.filter(({ key, current }) => current && models.includes(key.split('__')[0] ?? ''));
}

interface PartProps<T> {
  readonly of: T | undefined;
  readonly children: (part: T) => ComponentChildren;
}

/** A part of the page, or that it could not be read. */
function Part<T>({ of, children }: PartProps<T>): VNode {
  if (of !== undefined) return <>{children(of)}</>;
  return <p class="note">{words.unreadable}</p>;
}

function Latency({ answers, now }: { answers: readonly AnswerMinute[]; now: number }): VNode {
  if (answers.length === 0) return <p class="quiet">{words.noLatency}</p>;
  return (
    <>
      <LatencyChart answers={answers} now={now} />
      <p class="small quiet">{words.latencyText}</p>
      <details>
        <summary>{words.latencyTable}</summary>
        <DataTable
          caption={words.latencyTable}
          columns={ANSWERS}
          rows={answers.toReversed()}
          keyOf={({ at }) => String(at)}
        />
      </details>
    </>
  );
}

/** The times of answers in the last hour as dots with a line between both of a minute. The table below says the same. */
function LatencyChart({ answers, now }: { answers: readonly AnswerMinute[]; now: number }): VNode {
  const highest = Math.max(1, ...answers.map(({ p95 }) => p95));
  const last = Math.floor(now / MINUTE_MS);
  const toX = (at: number): number => (HOUR_MINUTES - 1 - (last - Math.floor(at / MINUTE_MS)) + 0.5) * STEP;
  const toY = (ms: number): number => Math.round((HEIGHT - DOT - (ms / highest) * (HEIGHT - 2 * DOT)) * 10) / 10;
  return (
    <div class="latency">
      <span class="small quiet" aria-hidden="true">
        {spanText(highest)}
      </span>
      <svg
        viewBox={`0 0 ${HOUR_MINUTES * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        focusable="false"
      >
        <path class="base" d={`M0 ${HEIGHT}H${HOUR_MINUTES * STEP}`} />
        {answers.map(({ at, p50, p95 }) => (
          <g key={at}>
            <path class="range" d={`M${toX(at)} ${toY(p50)}V${toY(p95)}`} />
            <path class="half" d={`M${toX(at) - DOT} ${toY(p50)}h${2 * DOT}`} />
            <path class="most" d={`M${toX(at) - DOT} ${toY(p95)}h${2 * DOT}`} />
          </g>
        ))}
      </svg>
    </div>
  );
}
