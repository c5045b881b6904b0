import { Problem } from '@reelgate/platform/problem';
import type { Media, StageRequest } from '../src/clients/media.ts';

const TYPES = { image: 'image/png', video: 'video/mp4', audio: 'audio/mpeg', base_video: 'video/mp4' } as const;

/** A fake of media that accepts everything. */
export interface FakeMedia {
  readonly port: Media;
  readonly staged: readonly StageRequest[];
  /** The URL of every fetched result. */
  readonly ingested: readonly string[];
  readonly removed: readonly string[];
  /** Tasks whose staged media were removed. */
  readonly unstaged: readonly string[];
  /** Objects that are no longer kept. */
  readonly gone: Set<string>;
  /** The bytes that an account may still store; absent: as many as it likes. */
  readonly fileRoom: Map<string, number>;
  /** The length of every video and sound. */
  durationMs: number;
  /** The bytes of every result. */
  resultBytes: number;
}

export const RESULT_EXPIRES_AT = Date.UTC(2026, 0, 8);

export function fakeMedia(): FakeMedia {
  const staged: StageRequest[] = [];
  const ingested: string[] = [];
  const removed: string[] = [];
  const unstaged: string[] = [];
  const media: FakeMedia = {
    staged,
    ingested,
    removed,
    unstaged,
    gone: new Set(),
    fileRoom: new Map(),
    durationMs: 4000,
    resultBytes: 1000,
    port: {
      stage: async (request) => {
        if (media.gone.has(request.object ?? ''))
          throw new Problem({
            kind: 'invalid',
            reason: 'invalid_media',
            message: 'must be a result of this account that is still kept',
          });
        staged.push(request);
        return {
          object: `obj-${request.taskId}-${staged.length}`,
          mediaType: TYPES[request.category],
          durationMs: request.category === 'image' ? 0 : media.durationMs,
        };
      },
      removeStaged: async ({ taskId }) => {
        unstaged.push(taskId);
      },
      ingest: async ({ taskId, url }) => {
        ingested.push(url);
        return {
          result: {
            object: `res-${taskId}`,
            bytes: media.resultBytes,
            mediaType: 'video/mp4',
            width: 1344,
            height: 768,
            durationMs: 5167,
            frameRate: 24,
          },
          expiresAt: RESULT_EXPIRES_AT,
        };
      },
      remove: async (taskId) => {
        removed.push(taskId);
      },
      link: async () => undefined,
      assertFileRoom: async (accountId, otherBytes) => {
        if ((media.fileRoom.get(accountId) ?? Infinity) > otherBytes) return;
        throw new Problem({ kind: 'unprocessable', reason: 'file_limit', message: 'delete some first' });
      },
      removePrivate: async (objects) => {
        removed.push(...objects);
      },
    },
  };
  return media;
}
