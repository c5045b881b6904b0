import { frameCount, framesPerSecond, frameSize } from './frame-format.ts';
import { measureWidth } from './glyphs.ts';
import { promptShare, type PictureOrder } from './picture-order.ts';
import {
  newPlanes,
  toColour,
  disc,
  paintCoverage,
  paintGradient,
  rectangle,
  type Colour,
  type Planes,
} from './planes.ts';
import { fitText, paintBlock, paintLine, type Box } from './text-block.ts';

/** The picture of one video: a background with the prompt, drawn once, and a few moving parts over it. */
export type Scene = { readonly still: Planes; readonly paintFrame: (frame: number) => Planes };

const white = toColour(0, 0, 1);
const promptSizes = [2.4, 2, 1.7, 1.4, 1.2, 1, 0.85];
const rollSeconds = 4;

export function newScene(order: PictureOrder): Scene {
  const still = newPlanes(frameSize(order.resolution, order.ratio));
  const layout = computeLayout(still);
  const hue = promptShare(order.prompt, 0);
  const accent = toColour((hue + 0.45) % 1, 0.85, 0.65);
  paintStill(still, order, layout, accent);

  const moving = newPlanes(still);
  const frames = frameCount(order.seconds);
  const paintFrame = (frame: number): Planes => {
    moving.bytes.set(still.bytes);
    paintMoving(moving, layout, { frame, frames }, accent);
    return moving;
  };
  return { still, paintFrame };
}

/** Every measure is a share of the picture's shorter side, so that all sizes and ratios look alike. */
type Layout = {
  readonly unit: number;
  readonly left: number;
  readonly width: number;
  readonly headline: number;
  readonly prompt: Box;
  readonly lane: number;
  readonly footer: number;
};

function computeLayout({ width, height }: Planes): Layout {
  const unit = Math.min(width, height) / 24;
  const left = unit * 1.6;
  const inner = width - left * 2;
  return {
    unit,
    left,
    width: inner,
    headline: unit * 2.3,
    prompt: { x: left, y: unit * 4.2, width: inner, height: height - unit * 10.2 },
    lane: height - unit * 4.2,
    footer: height - unit * 1.5,
  };
}

function paintStill(still: Planes, order: PictureOrder, layout: Layout, accent: Colour): void {
  const { unit, left, width, headline, prompt } = layout;
  const hue = promptShare(order.prompt, 0);
  paintGradient(still, toColour(hue, 0.55, 0.26), toColour((hue + 0.12) % 1, 0.6, 0.1));

  const size = unit * 0.85;
  const format = `${order.resolution} · ${order.ratio} · ${order.seconds} s`;
  paintLine(still, { text: 'REELGATE SANDBOX', size, x: left, baseline: headline }, accent);
  paintLine(still, { text: format, size, x: left + width - measureWidth(format, size), baseline: headline }, white);
  paintLine(still, { text: order.caption, size: unit * 0.75, x: left, baseline: headline + unit * 1.2 }, accent);
  paintBlock(
    still,
    fitText(
      order.prompt,
      prompt,
      promptSizes.map((share) => Math.round(share * unit)),
    ),
    prompt,
    white,
  );
  paintCoverage(still, rectangle(width, unit * 0.12, 0.35), { x: left, y: layout.lane + unit * 0.95 }, white);
}

type Moment = { readonly frame: number; readonly frames: number };

function paintMoving(planes: Planes, layout: Layout, { frame, frames }: Moment, accent: Colour): void {
  const { unit, left, width, lane, footer } = layout;
  const radius = unit * 0.8;
  const roll = (frame / framesPerSecond / rollSeconds) % 1;
  const swing = (1 - Math.cos(roll * 2 * Math.PI)) / 2;
  paintCoverage(planes, disc(radius), { x: left + radius + swing * (width - radius * 2), y: lane }, accent);
  paintCoverage(
    planes,
    rectangle((width * (frame + 1)) / frames, unit * 0.12),
    { x: left, y: lane + unit * 0.95 },
    accent,
  );

  const size = Math.round(unit);
  const count = `frame ${frame + 1} of ${frames}`;
  paintLine(planes, { text: timecode(frame), size, x: left, baseline: footer }, white);
  paintLine(planes, { text: count, size, x: left + width - measureWidth(count, size), baseline: footer }, white);
}

function timecode(frame: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `00:${two(Math.floor(frame / framesPerSecond))}:${two(frame % framesPerSecond)}`;
}
