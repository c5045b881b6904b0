import type { RpcAnswer } from '../../../api/calls.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { mergeActs } from './act-list.tsx';
import type { Act, ActAnswers } from './act-list.tsx';

/** The most acts of each service that are read. */
export const ACTS_READ = 200;
const MINUTE_MS = 60_000;
const CONFIGURATION = 'configuration_applied';
/** The tasks service writes its own without a subject. */
const WRITER = 'tasks';

export type HandOver = RpcAnswer<'tasks.OperatorService/GetHandOver'>;
type ServiceEvent = HandOver['events'][number];

/** Something that happened, by what made it known. */
export type HandOverEntry =
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
