import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { TaskEvent, TaskRecord } from '@reelgate/proto/tasks/v1/operator_service';

export interface EndFacts {
  /** The time at which an upstream accepted the work, in milliseconds since 1970; undefined before that. */
  readonly acceptedAt: number | undefined;
  /** The size of the result, in words. */
  readonly result: string | undefined;
}

/** The facts that the earlier entries have given. */
interface HistoryState {
  /** The time at which the upstream began to work, as far as a poll has seen it. */
  workingAt: number | undefined;
  /** The time at which the upstream got the work. */
  takenAt: number | undefined;
}

type Detail = Readonly<Record<string, unknown>>;
type Describe = (at: number, detail: Detail, state: HistoryState, facts: EndFacts) => readonly Step[];

/** Lists the steps that the history names. The steps of creation and attempts come from their own records. */
export function eventSteps({ events }: TaskRecord, facts: EndFacts): readonly Step[] {
  const state: HistoryState = { workingAt: undefined, takenAt: facts.acceptedAt };
  return events.flatMap((event) => toSteps(event, state, facts));
}

function toSteps({ at: time, type, detailJson }: TaskEvent, state: HistoryState, facts: EndFacts): readonly Step[] {
  if (time === undefined) return [];
  const at = timestampMs(time);
  const detail = JSON.parse(detailJson) as Detail;
  const describe = DESCRIBE[type];
  return describe === undefined
    ? [{ at, text: `${type.replaceAll('_', ' ')} ${shorten(detailJson)}` }]
    : describe(at, detail, state, facts);
}

const NOTHING: Describe = () => [];

const DESCRIBE: Readonly<Record<string, Describe | undefined>> = {
  created: NOTHING,
  attempt_started: NOTHING,
  attempt_refused: NOTHING,
  accepted: NOTHING,
  outcome_unknown: NOTHING,
  reported: (at, detail, state) => {
    if (detail['state'] !== 'in_progress' || state.workingAt !== undefined) {
      const word = `the upstream says ${shorten(String(detail['status']))}`;
      return [{ at, text: word }];
    }
    state.workingAt = at;
    const waited = sinceTaken(at, state);
    return [{ at, text: `the upstream works, after ${asSeconds(waited)} in its queue`, tookMs: waited }];
  },
  look_failed: (at, { error }) => [{ at, text: `a poll failed (${shorten(String(error))})` }],
  adopted: (at, _detail, state) => {
    state.takenAt ??= at;
    return [{ at, text: 'the list of the upstream had the work of the lost answer' }];
  },
  attention: (at, { reason, detail }) => [
    { at, text: `needs a person: ${words(reason)} (${shorten(String(detail))})` },
  ],
  attention_resolved: (at, { resolution, actor, reason }) => [
    {
      at,
      text:
        `no longer needs a person: ${words(resolution)}, by ${shorten(String(actor))}` +
        (typeof reason === 'string' ? ` (${shorten(reason)})` : ''),
    },
  ],
  refused: (at, detail) => [{ at, text: `refused: ${failure(detail)}` }],
  failed: (at, detail, state) => [...toWorkSteps(at, state), { at, text: `failed: ${failure(detail)}` }],
  completed: (at, { fetch_ms: given }, state, { result }) => {
    const fetchMs = typeof given === 'number' ? given : 0;
    const fetched =
      result === undefined || typeof given !== 'number'
        ? []
        : [{ at, text: `the result of ${result} was fetched in ${asSeconds(fetchMs)}`, tookMs: fetchMs }];
    return [...toWorkSteps(at - fetchMs, state), ...fetched, { at, text: 'completed' }];
  },
};

/** Returns the step with the time for which the upstream had the work, until a poll saw its end. */
function toWorkSteps(at: number, { workingAt, takenAt }: HistoryState): readonly Step[] {
  const since = workingAt ?? takenAt;
  if (since === undefined) return [];
  const tookMs = Math.max(0, at - since);
  const text =
    workingAt === undefined
      ? `the upstream was done after ${asSeconds(tookMs)}`
      : `the upstream was done after ${asSeconds(tookMs)} of work`;
  return [{ at, text, tookMs }];
}

function sinceTaken(at: number, { takenAt }: HistoryState): number {
  return takenAt === undefined ? 0 : Math.max(0, at - takenAt);
}

function failure({ code, message, upstream }: Detail): string {
  const state = `${shorten(String(message))} (${shorten(String(code))})`;
  const said = (upstream ?? {}) as { readonly code?: string; readonly message?: string };
  return said.message === undefined || said.message === message
    ? state
    : `${state}; the upstream said: ${shorten(said.message)} (${shorten(said.code ?? '')})`;
}

function words(value: unknown): string {
  return String(value).replaceAll('_', ' ');
}

/** An entry of the life of a task. */
export interface Step {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  /** The part of the time before it that the text explains, in milliseconds. */
  readonly tookMs?: number;
}

const TEXT_MAX = 200;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** From here on tenths of a second do not matter. */
const WHOLE_FROM_MS = 10 * SECOND_MS;

/** Writes `0.8 s`, `47 s`, `12 min 5 s` or `3 h 20 min`. */
export function asSeconds(ms: number): string {
  if (ms < WHOLE_FROM_MS) return `${(Math.round(ms / 100) / 10).toFixed(1)} s`;
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${whole(ms, MINUTE_MS)} min ${whole(ms % MINUTE_MS, SECOND_MS)} s`;
  return `${whole(ms, HOUR_MS)} h ${whole(ms % HOUR_MS, MINUTE_MS)} min`;
}

/** The words of an upstream on one line of bounded length. */
export function shorten(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length <= TEXT_MAX ? line : `${line.slice(0, TEXT_MAX - 1)}…`;
}

function whole(ms: number, unit: number): string {
  return String(Math.floor(ms / unit));
}
