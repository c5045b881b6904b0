import { createHash } from 'node:crypto';
import type { ConcreteRatio, Resolution } from './frame-format.ts';

/** Everything that determines a video: equal orders give equal bytes. */
export type PictureOrder = {
  readonly prompt: string;
  readonly resolution: Resolution;
  readonly ratio: ConcreteRatio;
  readonly seconds: number;
  readonly caption: string;
};

export function pictureKey(order: PictureOrder): string {
  const { prompt, resolution, ratio, seconds, caption } = order;
  return createHash('sha256')
    .update(JSON.stringify([prompt, resolution, ratio, seconds, caption]))
    .digest('hex');
}

/** A number from 0 up to 1 that the prompt determines, so that a prompt keeps its colours and its tune. */
export function promptShare(prompt: string, which: number): number {
  return (createHash('sha256').update(prompt).digest()[which] ?? 0) / 256;
}
