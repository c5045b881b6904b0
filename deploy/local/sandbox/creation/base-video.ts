import { invalidParams } from '../refusal.ts';
import { frameCount, framesPerSecond, frameSize, isOnFrameGrid } from '../render/frame-format.ts';
import type { MeasuredMedia } from './measured-media.ts';

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
