import type { Log } from '@reelgate/platform/log';
import { NOTE_MAX } from '../../../console/operator-values.ts';
import type { HandOverEntry, HandOverView, NoteList } from '../../../console/api/operator-hand-over.ts';
import type { ReadActs } from '../../clients/acts-client.ts';
import type { ServiceEvent, HandOvers } from '../../clients/hand-over-client.ts';
import { covers } from '../../domain/operator-role.ts';
import { bodyValidator, invalid } from '../../dialects/wire/body-validator.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { readJsonBody } from '../console-route.ts';
import { ifReadable } from '../client/task-parts.ts';
import { readTextFilter } from '../read-filters.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { requireOperator } from './operator-session-routes.ts';

/** The most acts of each service that are read. */
const ACTS_READ = 200;
const SUBJECT_MAX = 128;
const MINUTE_MS = 60_000;
const CONFIGURATION = 'configuration_applied';
/** The tasks service writes its own without a subject. */
const WRITER = 'tasks';

type EventEntry = Extract<HandOverEntry, { readonly kind: 'event' }>;

export interface HandOverParts {
  readonly log: Log;
  readonly budget: BodyBudget;
  readonly handOver: HandOvers;
  readonly acts: ReadActs;
}

const markBody = bodyValidator<{ readonly until: number }>({
  type: 'object',
  additionalProperties: false,
  required: ['until'],
  properties: { until: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } },
});
const noteBody = bodyValidator<{ readonly subject: string; readonly text: string }>({
  type: 'object',
  additionalProperties: false,
  required: ['subject', 'text'],
  properties: {
    subject: { type: 'string', minLength: 1, maxLength: SUBJECT_MAX },
    text: { type: 'string', minLength: 1, maxLength: NOTE_MAX },
  },
});

/** The routes of the hand-over between operators, and of their notes. */
export function handOverRoutes(parts: HandOverParts): OperatorRouteEntry[] {
  const { budget, handOver } = parts;
  return [
    operatorRoute({
      method: 'GET',
      path: '/hand-over',
      name: 'getHandOver',
      role: 'viewer',
      answer: (exchange) => readHandOver(parts, exchange),
    }),
    operatorRoute({
      method: 'POST',
      path: '/hand-over',
      name: 'markHandOver',
      role: 'viewer',
      answer: async (exchange) => {
        const { until } = markBody(await readJsonBody(exchange, { budget }));
        await handOver.mark(requireOperator(exchange).name, until, exchange.state);
        return {};
      },
    }),
    operatorRoute({
      method: 'GET',
      path: '/notes',
      name: 'listNotes',
      role: 'viewer',
      answer: async (exchange): Promise<NoteList> => {
        const subject = readTextFilter(new URLSearchParams(exchange.querystring), 'subject', SUBJECT_MAX);
        if (subject === undefined)
          throw invalid('subject', 'must be the id of a channel, a task or a job', 'invalid_request');
        return readNotes(handOver, subject, exchange);
      },
    }),
    operatorRoute({
      method: 'POST',
      path: '/notes',
      name: 'addNote',
      role: 'operator',
      answer: async (exchange) => {
        const { subject, text } = noteBody(await readJsonBody(exchange, { budget }));
        await handOver.addNote({ subject, text, author: requireOperator(exchange).name }, exchange.state);
        return {};
      },
    }),
    operatorRoute({
      method: 'POST',
      path: '/notes/{id}/resolve',
      name: 'resolveNote',
      role: 'operator',
      answer: async (exchange) => {
        await handOver.resolveNote(readEnd(exchange), exchange.state);
        return {};
      },
    }),
    operatorRoute({
      method: 'DELETE',
      path: '/notes/{id}',
      name: 'deleteNote',
      role: 'operator',
      answer: async (exchange) => {
        await handOver.deleteNote(readEnd(exchange), exchange.state);
        return {};
      },
    }),
  ];
}

function readEnd(exchange: Exchange): { readonly id: string; readonly actor: string } {
  return { id: exchange.params['id'] ?? '', actor: requireOperator(exchange).name };
}

/** The notes of a subject, and what the visitor may do with them. */
export async function readNotes(handOver: HandOvers, subject: string, exchange: Exchange): Promise<NoteList> {
  const { name, role } = requireOperator(exchange);
  return { notes: await handOver.notes(subject, exchange.state), canWrite: covers(role, 'operator'), you: name };
}

/** An act after the mark of the answer is read the next time. */
async function readHandOver({ log, handOver, acts }: HandOverParts, exchange: Exchange): Promise<HandOverView> {
  const { name } = requireOperator(exchange);
  const { since, readUntil, now, events, raised, hasMore } = await handOver.read(name, exchange.state);
  const page = await ifReadable(log, 'acts', acts({ limit: ACTS_READ }, exchange.state));
  const recent = (page?.acts ?? []).filter(({ at }) => at >= since && at <= now);
  const isCut = page?.hasMore === true && recent.length === page.acts.length;
  const entries: HandOverEntry[] = [
    ...recent.map((act) => ({ kind: 'act' as const, at: act.at, act })),
    ...mergeEvents(events),
    ...raised.map((one) => ({ kind: 'raised' as const, ...one })),
  ];
  return {
    since,
    ...(readUntil === undefined ? {} : { readUntil }),
    entries: entries.toSorted((one, other) => other.at - one.at),
    hasMore: hasMore || isCut,
    ...(page === undefined ? { areActsUnread: true } : {}),
    you: name,
    now,
  };
}

/** Every service tells that it took a configuration up; those of one minute are one entry. */
function mergeEvents(events: readonly ServiceEvent[]): readonly EventEntry[] {
  const applied = Map.groupBy(
    events.filter(({ type }) => type === CONFIGURATION),
    ({ at }) => Math.floor(at / MINUTE_MS),
  );
  const configurations = [...applied.values()].map((ofMinute): EventEntry => ({
    kind: 'event',
    at: Math.max(...ofMinute.map(({ at }) => at)),
    type: CONFIGURATION,
    subject: '',
    services: ofMinute.map(({ subject }) => subject || WRITER).toSorted(),
  }));
  const others = events.filter(({ type }) => type !== CONFIGURATION);
  return [...configurations, ...others.map((one): EventEntry => ({ kind: 'event', ...one }))];
}
