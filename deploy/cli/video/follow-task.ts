import type { Clock } from '@reelgate/platform/clock';
import type { Terminal } from '../terminal.ts';
import { whileShowing } from '../while-showing.ts';
import { ApiRefusal, NoAnswer } from './public-api.ts';
import type { PublicApi, Video } from './public-api.ts';

const POLL_MS = 1000;
/** The longest absence of the gateway before the command gives up. The task continues without the command. */
const AWAY_MS_MAX = 120_000;
const FINAL: ReadonlySet<string> = new Set(['completed', 'failed']);

interface FollowOptions {
  readonly api: PublicApi;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  /** The hold, for the progress line. Empty if it is not known. */
  readonly held: string;
}

/** Reads the task until it ends, and shows its progress. Returns undefined if the operator stopped the command. */
export async function followTask(taskId: string, following: FollowOptions): Promise<Video | undefined> {
  const { terminal, clock, stop, held } = following;
  let line = 'queued';
  const show = (video: Video): void => {
    const next =
      video.progress === undefined || video.status === 'queued' ? video.status : `${video.status}  ${video.progress} %`;
    if (next !== line && !terminal.isInteractive) terminal.note(next);
    line = next;
  };
  if (!terminal.isInteractive) terminal.note(`${taskId}  queued`);
  return whileShowing(
    terminal,
    () => `${line}${held === '' ? '' : `  ${held}`}`,
    async () => {
      let answeredAt = clock.now();
      while (!stop.aborted) {
        const video = await readOnce(taskId, following, clock.now() - answeredAt);
        if (video !== undefined) {
          answeredAt = clock.now();
          show(video);
          if (FINAL.has(video.status)) return video;
        }
        await clock.sleep(POLL_MS, stop);
      }
      return undefined;
    },
  );
}

/** Reads the task once. Returns undefined if the gateway did not answer, and throws once that has lasted too long. */
async function readOnce(taskId: string, { api, stop }: FollowOptions, awayMs: number): Promise<Video | undefined> {
  try {
    return await api.read(taskId);
  } catch (error) {
    if (stop.aborted) return undefined;
    const isPassing = error instanceof NoAnswer || (error instanceof ApiRefusal && isTemporary(error.status));
    if (!isPassing || awayMs > AWAY_MS_MAX) throw error;
    return undefined;
  }
}

/** Too many requests, or a fault of the gateway: the same request can succeed later. */
export function isTemporary(status: number): boolean {
  return status === 429 || status >= 500;
}
