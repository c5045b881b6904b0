import { adaptiveRatio, type Draft, type MediaItem, type Order } from '../order.ts';
import { framesPerSecond, nearestRatio } from '../render/frame-format.ts';
import type { SandboxParts } from '../sandbox-parts.ts';
import type { Task } from '../task.ts';
import { checkBaseVideo } from './base-video.ts';
import { measureMedia } from './measured-media.ts';

const durationWhenUnknown = 5;

type Facts = Pick<Order, 'text' | 'roles' | 'duration' | 'ratio' | 'inputSeconds' | 'inputAudioSeconds'>;

/** The order that the task keeps, with the facts of its source task or of its base video if it has one. */
export async function orderFromDraft(draft: Draft, source: Task | undefined, parts: SandboxParts): Promise<Order> {
  const facts = source === undefined ? await collectFacts(draft, parts) : source.order;
  const { kind, model, resolution, callbackUrl } = draft;
  const { text, roles, duration, ratio, inputSeconds, inputAudioSeconds } = facts;
  return { kind, model, resolution, callbackUrl, text, roles, duration, ratio, inputSeconds, inputAudioSeconds };
}

async function collectFacts(draft: Draft, parts: SandboxParts): Promise<Facts> {
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

async function measureBaseShape(base: MediaItem, parts: SandboxParts): Promise<Pick<Order, 'duration' | 'ratio'>> {
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
