import type { InputVideoTrack } from 'mediabunny';
import { adaptiveRatio } from '../vendor-order.ts';
import type { Draft, MediaItem, Order, OrderFacts, VideoShape } from '../vendor-order.ts';
import { invalidParams } from '../vendor-refusal.ts';
import { frameCount, frameSize, framesPerSecond, isOnFrameGrid, nearestRatio } from '../render/frame-format.ts';
import type { FrameSize } from '../render/frame-format.ts';
import type { SandboxParts } from '../sandbox-parts.ts';
import { findPhase } from '../task-life.ts';
import type { Task } from '../task-life.ts';
import { deadline } from '../sandbox-clock.ts';
import type { SandboxTime } from '../sandbox-clock.ts';
import { dial } from '../dial.ts';
import { mediaBytesMax, mediaFetchMsMax } from '../limits.ts';

const durationWhenUnknown = 5;

/** The source of a regeneration: a generation of this sandbox that succeeded, in the format of a base video. */
export function sourceTask(id: string, { book, clock }: SandboxParts): Task {
  const task = book.find(id);
  if (task === undefined) throw invalidParams('source_task_id names no task of this account');
  if (task.order.kind !== 'generation') throw invalidParams('source_task_id must name a generation');
  if (task.order.resolution !== '768P') throw invalidParams('source_task_id must name a 768P generation');
  if (findPhase(task, clock.now()).status !== 'succeeded')
    throw invalidParams('source_task_id must name a task that succeeded');
  return task;
}

/** The order that the task keeps, with the facts of its source task or of its base video if it has one. */
export async function orderFromDraft(draft: Draft, source: Task | undefined, parts: SandboxParts): Promise<Order> {
  const facts = source === undefined ? await collectFacts(draft, parts) : source.order;
  const { kind, model, resolution, callbackUrl } = draft;
  const { text, roles, duration, ratio, inputSeconds, inputAudioSeconds } = facts;
  return { kind, model, resolution, callbackUrl, text, roles, duration, ratio, inputSeconds, inputAudioSeconds };
}

async function collectFacts(draft: Draft, parts: SandboxParts): Promise<OrderFacts> {
  const inputs = draft.media.filter((item) => item.role !== 'base_video');
  const base = draft.media.find((item) => item.role === 'base_video');
  const [shape, inputSeconds, inputAudioSeconds] = await Promise.all([
    base === undefined
      ? { duration: draft.duration ?? durationWhenUnknown, ratio: chooseRatio(draft.ratio) }
      : measureBaseShape(base, parts),
    measureSeconds(
      inputs.filter((item) => item.form === 'video'),
      parts,
    ),
    measureSeconds(
      inputs.filter((item) => item.form === 'audio'),
      parts,
    ),
  ]);
  return { text: draft.text, roles: inputs.map((item) => item.role), ...shape, inputSeconds, inputAudioSeconds };
}

async function measureBaseShape(base: MediaItem, parts: SandboxParts): Promise<VideoShape> {
  const measured = await measureMedia(base, parts);
  if (measured === undefined) return { duration: durationWhenUnknown, ratio: adaptiveRatio };
  checkBaseVideo(measured);
  const frames = measured.picture?.frames ?? 0;
  return {
    duration: Math.floor(frames / framesPerSecond),
    ratio: measured.picture ? nearestRatio(measured.picture) : adaptiveRatio,
  };
}

async function measureSeconds(items: readonly MediaItem[], parts: SandboxParts): Promise<number> {
  const measured = await Promise.all(items.map((item) => measureMedia(item, parts)));
  return Math.round(measured.reduce((sum, media) => sum + (media?.seconds ?? 0), 0));
}

function chooseRatio(ratio: Draft['ratio']): Order['ratio'] {
  return ratio === undefined || ratio === 'adaptive' ? adaptiveRatio : ratio;
}

const sideStep = 32;
const largest = frameSize('768P', '16:9');
const pixelsMax = largest.width * largest.height;
const [framesMin, framesMax] = [frameCount(4), frameCount(15)];

/** Refuses a base video that breaks a rule of the vendor's documentation. */
export function checkBaseVideo({ hasSound, picture }: MeasuredMedia): void {
  const { width = 0, height = 0, frames = 0, framesPerSecond: rate = 0 } = picture ?? {};
  const rules: readonly (readonly [boolean, string])[] = [
    [picture !== undefined, 'must have a video track'],
    [hasSound, 'must have an audio track'],
    [Math.abs(rate - framesPerSecond) < 0.1, `must have ${framesPerSecond} frames a second`],
    [
      width % sideStep === 0 && height % sideStep === 0,
      `must have a width and height that are multiples of ${sideStep}`,
    ],
    [width * height <= pixelsMax, `must have at most ${pixelsMax} pixels`],
    [
      frames >= framesMin && frames <= framesMax && isOnFrameGrid(frames),
      `must have ${framesMin} to ${framesMax} frames in steps of 17`,
    ],
  ];
  const broken = rules.find(([holds]) => !holds);
  if (broken) throw invalidParams(`base_video ${broken[1]}`);
}

export type MeasuredMedia = {
  readonly seconds: number;
  readonly hasSound: boolean;
  readonly picture: MeasuredPicture | undefined;
};
type MeasuredPicture = FrameSize & { readonly frames: number; readonly framesPerSecond: number };

/**
 * Opens a video or a sound to learn its length and format, which the vendor checks and bills. If that is not possible
 * (an upstream file, an unreachable address, an unknown format), the sandbox continues without them, and so works
 * offline.
 */
export async function measureMedia(item: MediaItem, time: SandboxTime): Promise<MeasuredMedia | undefined> {
  try {
    const bytes = item.url.startsWith('data:')
      ? Buffer.from(item.url.slice(item.url.indexOf(',') + 1), 'base64')
      : await fetchMedia(item, time);
    return await measure(bytes);
  } catch {
    return undefined;
  }
}

async function fetchMedia({ url, form }: MediaItem, { clock, stopped }: SandboxTime): Promise<Buffer> {
  const { signal, release } = deadline(clock, mediaFetchMsMax, stopped);
  try {
    const { status, bytes } = await dial({ method: 'GET', url, bytesMax: mediaBytesMax[form], signal });
    if (status !== 200) throw new Error(`answered ${status}`);
    return bytes;
  } finally {
    release();
  }
}

/** Measures a medium. The parsers load with the first one, because most orders have no media. */
async function measure(bytes: Buffer): Promise<MeasuredMedia> {
  const { ALL_FORMATS, BufferSource, Input } = await import('mediabunny');
  using input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  const video = await input.getPrimaryVideoTrack();
  return {
    seconds: await input.computeDuration(),
    hasSound: (await input.getPrimaryAudioTrack()) !== null,
    picture: video === null ? undefined : await measurePicture(video),
  };
}

async function measurePicture(video: InputVideoTrack): Promise<MeasuredPicture> {
  const { packetCount: frames, averagePacketRate: framesPerSecond } = await video.computePacketStats();
  return { width: await video.getDisplayWidth(), height: await video.getDisplayHeight(), frames, framesPerSecond };
}
