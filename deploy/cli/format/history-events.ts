import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { TaskEvent, TaskRecord } from '@reelgate/proto/tasks/v1/operator_service';
import { asSeconds, shorten } from './history-step.ts';
import type { Step } from './history-step.ts';

export interface EndFacts {
  /** The time at which an upstream took the work, in milliseconds since 1970; undefined if none has. */
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
type Tell = (at: number, detail: Detail, told: HistoryState, facts: EndFacts) => readonly Step[];

/** The steps that the history names. Creation and attempts are told from their own records. */
export function eventSteps({ events }: TaskRecord, facts: EndFacts): readonly Step[] {
  const told: HistoryState = { workingAt: undefined, takenAt: facts.acceptedAt };
  return events.flatMap((event) => toSteps(event, told, facts));
}

function toSteps({ at: time, type, detailJson }: TaskEvent, told: HistoryState, facts: EndFacts): readonly Step[] {
  if (time === undefined) return [];
  const at = timestampMs(time);
  const detail = JSON.parse(detailJson) as Detail;
  const tell = TELL[type];
  return tell === undefined
    ? [{ at, text: `${type.replaceAll('_', ' ')} ${shorten(detailJson)}` }]
    : tell(at, detail, told, facts);
}

const NOTHING: Tell = () => [];

const TELL: Readonly<Record<string, Tell | undefined>> = {
  created: NOTHING,
  attempt_started: NOTHING,
  attempt_refused: NOTHING,
  accepted: NOTHING,
  outcome_unknown: NOTHING,
  reported: (at, detail, told) => {
    if (detail['state'] !== 'in_progress' || told.workingAt !== undefined) {
      const word = `the upstream says ${shorten(String(detail['status']))}`;
      return [{ at, text: word }];
    }
    told.workingAt = at;
    const waited = sinceTaken(at, told);
    return [{ at, text: `the upstream works, after ${asSeconds(waited)} in its queue`, tookMs: waited }];
  },
  look_failed: (at, { error }) => [{ at, text: `a poll failed (${shorten(String(error))})` }],
  adopted: (at, _detail, told) => {
    told.takenAt ??= at;
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
  failed: (at, detail, told) => [...toWorkSteps(at, told), { at, text: `failed: ${failure(detail)}` }],
  completed: (at, { fetch_ms: given }, told, { result }) => {
    const fetchMs = typeof given === 'number' ? given : 0;
    const fetched =
      result === undefined || typeof given !== 'number'
        ? []
        : [{ at, text: `the result of ${result} was fetched in ${asSeconds(fetchMs)}`, tookMs: fetchMs }];
    return [...toWorkSteps(at - fetchMs, told), ...fetched, { at, text: 'completed' }];
  },
};

/** Returns the step that says how long the upstream had the work, until a poll saw its end. */
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
  const told = `${shorten(String(message))} (${shorten(String(code))})`;
  const said = (upstream ?? {}) as { readonly code?: string; readonly message?: string };
  return said.message === undefined || said.message === message
    ? told
    : `${told}; the upstream said: ${shorten(said.message)} (${shorten(said.code ?? '')})`;
}

function words(value: unknown): string {
  return String(value).replaceAll('_', ' ');
}
