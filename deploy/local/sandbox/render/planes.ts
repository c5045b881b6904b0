import type { FrameSize } from './frame-format.ts';
import type { Coverage } from './outline-fill.ts';

/**
 * A picture as the encoder takes it (I420): full-size brightness, then the two colour planes at half size. Drawing
 * straight into the planes saves the conversion of millions of RGB pixels for every frame.
 */
export type Planes = FrameSize & {
  readonly bytes: Uint8Array;
  readonly y: Uint8Array;
  readonly u: Uint8Array;
  readonly v: Uint8Array;
};

export type Colour = { readonly y: number; readonly u: number; readonly v: number };

export function newPlanes({ width, height }: FrameSize): Planes {
  const pixels = width * height;
  const bytes = new Uint8Array((pixels * 3) / 2);
  return {
    width,
    height,
    bytes,
    y: bytes.subarray(0, pixels),
    u: bytes.subarray(pixels, (pixels * 5) / 4),
    v: bytes.subarray((pixels * 5) / 4),
  };
}

/** A colour by hue (turns, 0 to 1), saturation and lightness, in the video's limited range (BT.709). */
export function toColour(hue: number, saturation: number, lightness: number): Colour {
  const spread = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): number => {
    const position = (offset + hue * 12) % 12;
    return lightness - spread * Math.max(-1, Math.min(position - 3, 9 - position, 1));
  };
  const [red, green, blue] = [channel(0), channel(8), channel(4)];
  const luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return { y: 16 + 219 * luma, u: 128 + (224 * (blue - luma)) / 1.8556, v: 128 + (224 * (red - luma)) / 1.5748 };
}

export function paintGradient(planes: Planes, from: Colour, to: Colour): void {
  const fill = (plane: Uint8Array, width: number, height: number, part: keyof Colour): void => {
    for (let row = 0; row < height; row += 1) {
      for (let column = 0; column < width; column += 1) {
        const share = (row / height + column / width) / 2;
        plane[row * width + column] = Math.round(from[part] + (to[part] - from[part]) * share);
      }
    }
  };
  fill(planes.y, planes.width, planes.height, 'y');
  fill(planes.u, planes.width / 2, planes.height / 2, 'u');
  fill(planes.v, planes.width / 2, planes.height / 2, 'v');
}

/** Paints a shape in one colour over the picture, and clips it at the picture's edges. */
export function paintCoverage(
  planes: Planes,
  shape: Coverage,
  at: { readonly x: number; readonly y: number },
  colour: Colour,
): void {
  const left = Math.round(at.x) + shape.left;
  const top = Math.round(at.y) + shape.top;
  const halfWidth = planes.width / 2;
  for (let row = Math.max(0, -top); row < Math.min(shape.height, planes.height - top); row += 1) {
    for (let column = Math.max(0, -left); column < Math.min(shape.width, planes.width - left); column += 1) {
      const alpha = (shape.alpha[row * shape.width + column] ?? 0) / 255;
      if (alpha === 0) continue;
      const x = left + column;
      const y = top + row;
      blend(planes.y, y * planes.width + x, colour.y, alpha);
      // Four pixels share one sample of the colour planes. Each pixel moves the sample towards its own colour.
      const shared = (y >> 1) * halfWidth + (x >> 1);
      blend(planes.u, shared, colour.u, alpha / 2);
      blend(planes.v, shared, colour.v, alpha / 2);
    }
  }
}

function blend(plane: Uint8Array, index: number, value: number, alpha: number): void {
  const before = plane[index] ?? 0;
  plane[index] = Math.round(before + (value - before) * alpha);
}

export function rectangle(width: number, height: number, alpha = 1): Coverage {
  const size = { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) };
  return { left: 0, top: 0, ...size, alpha: new Uint8Array(size.width * size.height).fill(Math.round(alpha * 255)) };
}

/** A disc with a soft rim, centred on the point where it is painted. */
export function disc(radius: number): Coverage {
  const reach = Math.ceil(radius) + 1;
  const width = reach * 2 + 1;
  const alpha = Uint8Array.from({ length: width * width }, (_, index) => {
    const distance = Math.hypot((index % width) - reach, Math.floor(index / width) - reach);
    return Math.round(255 * Math.max(0, Math.min(1, radius + 0.5 - distance)));
  });
  return { left: -reach, top: -reach, width, height: width, alpha };
}
