import { Problem } from '@reelgate/platform/problem';
import { readRequestId } from '@reelgate/platform/request-context';
import type { NewId } from '@reelgate/platform/ids';
import type { ServerResponse } from 'node:http';

const KEY = /^[\x21-\x7e]{1,255}$/;

/** The client's key for a create; undefined if there is none. Refuses an invalid key. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && KEY.test(header)) return header;
  throw new Problem({
    kind: 'invalid',
    reason: 'invalid_idempotency_key',
    field: 'Idempotency-Key',
    message: 'must be 1 to 255 visible ASCII characters',
  });
}

const WAIT_MAX_S = 60;

/** The seconds of `Prefer: wait=N`, at most 60; undefined if the client does not ask to wait. */
export function readPreferredWait(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined;
  const preferences = [header]
    .flat()
    .join(',')
    .split(/[,;]/)
    .map((part) => part.trim());
  const [, seconds] =
    preferences.map((part) => /^wait\s*=\s*"?(\d{1,9})"?$/i.exec(part)).find((found) => found !== null) ?? [];
  return seconds === undefined || Number(seconds) === 0 ? undefined : Math.min(WAIT_MAX_S, Number(seconds));
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
