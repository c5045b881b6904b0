import { signPath } from '@reelgate/platform/signatures';
import { getTask } from '../reads/read-tasks.ts';
import type { ContentDeps } from './content-deps.ts';
import { requireFinishedVideo, resultExpired } from './read-content.ts';
import { refuse } from '../../refusals.ts';

const LIFETIME_MS = { min: 1000, max: 24 * 3_600_000, otherwise: 3_600_000 };

export interface LinkRequest {
  readonly accountId: string;
  readonly taskId: string;
  /** The default is an hour. */
  readonly lifetimeMs: number | undefined;
}

export interface ContentLink {
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Makes a URL of a video that needs no key. It is not stored: its signature holds its end. */
export async function signContentLink(
  deps: ContentDeps,
  { accountId, taskId, lifetimeMs = LIFETIME_MS.otherwise }: LinkRequest,
): Promise<ContentLink> {
  assertLifetime(lifetimeMs);
  const now = deps.clock.now();
  const { object, expiresAt = Infinity } = requireFinishedVideo(await getTask(deps, accountId, taskId), now);
  const end = Math.floor(Math.min(now + lifetimeMs, expiresAt) / 1000);
  // less than a second is left of the video
  if (end * 1000 <= now) throw resultExpired();
  const path = `/ximg/${object}.mp4`;
  return { url: `${deps.publicUrl}${path}?${signPath(deps.linkKey, path, end)}`, expiresAt: end * 1000 };
}

function assertLifetime(lifetimeMs: number): void {
  if (lifetimeMs >= LIFETIME_MS.min && lifetimeMs <= LIFETIME_MS.max) return;
  throw refuse('invalid_request', {
    field: 'lifetime',
    message: `must be from 1 s to ${LIFETIME_MS.max / 1000} s; it is ${lifetimeMs / 1000} s`,
  });
}
