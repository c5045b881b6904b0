import { readRequestId } from '@reelgate/platform/request-context';
import type { NewId } from '@reelgate/platform/ids';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { WAIT_CLASSES, WAIT_MODES } from '../clients/task-words.ts';
import type { WaitPreference } from '../clients/tasks-client.ts';
import { ANNOTATIONS, collectAnnotations } from '../domain/annotations.ts';
import type { Annotations } from '../domain/annotations.ts';
import { parseTimestamp } from '../domain/timestamp.ts';
import { refuse } from '../refusals.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;

/** Reads the client's key for a create; undefined if the client sends no key. Refuses an invalid key. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && KEY.test(header)) return header;
  throw refuse('invalid_idempotency_key', {
    field: 'Idempotency-Key',
    message: 'must be 1 to 255 visible ASCII characters',
  });
}

/** Reads the client's texts about its own work. Refuses an invalid one. */
export function readAnnotations(headers: IncomingHttpHeaders): Annotations {
  return collectAnnotations((name) => {
    const { header, pattern, rule } = ANNOTATIONS[name];
    const value = headers[header.toLowerCase()];
    if (value === undefined || (typeof value === 'string' && pattern.test(value))) return value;
    throw refuse('invalid_request', { field: header, message: rule });
  });
}

/** A member of a list, up to the next comma that is not within quotes. */
const LIST_MEMBER = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g;
/** A preference of RFC 7240: its name, and its value as a token or within quotes. Parameters may follow. */
const PREFERENCE = /^\s*([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\.)*)")\s*)?(?:;.*)?$/;

/** The preferences of a request with their values. The first of a name counts, and a malformed one does not. */
function readPreferences(header: string | string[]): ReadonlyMap<string, string> {
  const preferences = new Map<string, string>();
  for (const member of [header].flat().join(',').match(LIST_MEMBER) ?? []) {
    const [, name, token, quoted] = PREFERENCE.exec(member) ?? [];
    const key = name?.toLowerCase();
    if (key !== undefined && !preferences.has(key))
      preferences.set(key, token ?? quoted?.replace(/\\(.)/g, '$1') ?? '');
  }
  return preferences;
}

const WAIT_MAX_S = 60;

/** The seconds of `Prefer: wait=N`, at most 60; undefined if the client does not ask to wait. */
export function readPreferredWait(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = readPreferences(header).get('wait') ?? '';
  return !/^\d{1,9}$/.test(seconds) || Number(seconds) === 0 ? undefined : Math.min(WAIT_MAX_S, Number(seconds));
}

const START_WITHIN_MAX_S = 604_800;

/** Reads how a create wants to wait; undefined if the client does not say. Ignores unknown preferences. */
export function readWaitPreference(header: string | string[] | undefined): WaitPreference | undefined {
  if (header === undefined) return undefined;
  const preferences = readPreferences(header);
  const mode = WAIT_MODES.find((one) => one === preferences.get('queue'));
  const wanted = WAIT_CLASSES.find((one) => one === preferences.get('class'));
  const within = preferences.get('start-within') ?? '';
  const startWithinS = /^\d{1,6}$/.test(within) ? Number(within) : 0;
  const time = preferences.get('not-before') ?? '';
  const notBefore = time.includes('T') ? parseTimestamp(time, 'beginning') : undefined;
  const preference = {
    ...(mode && { mode }),
    ...(wanted && { class: wanted }),
    ...(startWithinS >= 1 && startWithinS <= START_WITHIN_MAX_S && { startWithinS }),
    ...(notBefore !== undefined && { notBefore }),
  };
  return Object.keys(preference).length === 0 ? undefined : preference;
}

/** Writes `Preference-Applied`; empty if no preference was applied. */
export function formatAppliedWait({ mode, class: applied, startWithinS, notBefore }: WaitPreference): string {
  return [
    ...(mode === undefined ? [] : [`queue=${mode}`]),
    ...(applied === undefined ? [] : [`class=${applied}`]),
    ...(startWithinS === undefined ? [] : [`start-within=${startWithinS}`]),
    ...(notBefore === undefined ? [] : [`not-before="${new Date(notBefore).toISOString()}"`]),
  ].join(', ');
}

/** The client's own id for a request if it is valid, otherwise a new one. */
export function readOrCreateRequestId(header: string | string[] | undefined, newId: NewId): string {
  return readRequestId(header) || newId('req');
}

const HINT = { leastMs: 1000, mostMs: 60_000, unknownMs: 2000 };

interface PolledTask {
  readonly pollAfterMs: bigint;
}

/** Milliseconds until a client should poll a running task again. */
export function computePollDelayMs({ pollAfterMs }: PolledTask): number {
  return pollAfterMs > 0n ? Math.min(HINT.mostMs, Math.max(HINT.leastMs, Number(pollAfterMs))) : HINT.unknownMs;
}

/** Sets the headers that tell a client when to poll a running task again. */
export function setPollHints(response: ServerResponse, task: PolledTask): void {
  const ms = computePollDelayMs(task);
  response.setHeader('openai-poll-after-ms', String(ms));
  response.setHeader('retry-after', String(Math.max(1, Math.ceil(ms / 1000))));
}
