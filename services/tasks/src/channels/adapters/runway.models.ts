/** A pair of pixels, such as `1280:720`: the resolution that it is nearest to, and its width by its height. */
export interface Pixels {
  readonly pair: string;
  readonly tier: string | undefined;
  readonly shape: number;
}

const TIER_AREAS: Readonly<Record<string, number>> = {
  '480p': 854 * 480,
  '720p': 1280 * 720,
  '1080p': 1920 * 1080,
  '4k': 3840 * 2160,
};

/**
 * The form in which a model takes the frame: as pixels from a list, or as a resolution with or without a ratio. A
 * route that the model does not have is absent.
 */
export interface RunwayModel {
  readonly frame: 'pixels' | 'ratio and resolution' | 'resolution';
  /** Pixels that text_to_video takes. */
  readonly text?: readonly Pixels[];
  /** Pixels that image_to_video takes. */
  readonly image?: readonly Pixels[];
  readonly lastFrame: boolean;
  readonly references: boolean;
}

const splitPairs = (pixels: string): readonly Pixels[] => pixels.split(' ').map(readPixels);
const FLAT_HD = splitPairs('1280:720 720:1280');
const GEN4 = splitPairs('1280:720 720:1280 1104:832 960:960 832:1104 1584:672');
const VEO = splitPairs('1280:720 720:1280 1080:1920 1920:1080');
const SEEDANCE_480P = splitPairs('992:432 864:496 752:560 640:640 560:752 496:864');
const SEEDANCE_720P = splitPairs('1470:630 1280:720 1112:834 960:960 834:1112 720:1280');
const SEEDANCE_1080P = splitPairs('2206:946 1920:1080 1664:1248 1440:1440 1248:1664 1080:1920');
const SEEDANCE_4K = splitPairs('3840:1646 3840:2160 3840:2880 3840:3840 2880:3840 2160:3840');
const SEEDANCE_25_480P = splitPairs('992:432 854:480 752:560 640:640 560:752 480:854');

const inPixels = (pixels: readonly Pixels[]) => ({ frame: 'pixels', text: pixels, image: pixels }) as const;
const NEITHER = { lastFrame: false, references: false };
const BOTH = { lastFrame: true, references: true };

/** The models that this adapter supports, by their API ids. */
export const RUNWAY_MODELS: Readonly<Record<string, RunwayModel>> = {
  'gen4.5': { frame: 'pixels', text: FLAT_HD, image: GEN4, ...NEITHER },
  gen4_turbo: { frame: 'pixels', image: GEN4, ...NEITHER },
  'veo3.1': { ...inPixels(VEO), lastFrame: true, references: false },
  'veo3.1_fast': { ...inPixels(VEO), lastFrame: true, references: false },
  seedance2: { ...inPixels([...SEEDANCE_480P, ...SEEDANCE_720P, ...SEEDANCE_1080P, ...SEEDANCE_4K]), ...BOTH },
  seedance2_fast: { ...inPixels([...SEEDANCE_480P, ...SEEDANCE_720P]), ...BOTH },
  seedance2_mini: { ...inPixels([...SEEDANCE_480P, ...SEEDANCE_720P]), ...BOTH },
  seedance2_5: { ...inPixels([...SEEDANCE_25_480P, ...SEEDANCE_720P, ...SEEDANCE_1080P]), ...BOTH },
  hailuo3: { frame: 'ratio and resolution', ...BOTH },
  h3_max: { frame: 'resolution', lastFrame: true, references: false },
};

/** Maximum difference between the shape of a frame and the requested ratio, as a logarithm. */
const SHAPE_TOLERANCE = 0.06;
/** The ratio for `adaptive`, which pixels cannot express. */
const SHAPE_OF_ADAPTIVE = 16 / 9;

/** The pixel pair for a ratio and a resolution; undefined if the model has none. */
export function choosePixels(
  pixels: readonly Pixels[],
  ratio: string | undefined,
  resolution: string | undefined,
): string | undefined {
  const wanted = readShape(ratio ?? '') ?? SHAPE_OF_ADAPTIVE;
  const tier = resolution?.toLowerCase();
  let nearest: string | undefined;
  let leastOff = SHAPE_TOLERANCE;
  for (const one of pixels) {
    const off = Math.abs(Math.log(one.shape / wanted));
    if (one.tier === tier && off < leastOff) [nearest, leastOff] = [one.pair, off];
  }
  return nearest;
}

function readPixels(pair: string): Pixels {
  const [width = 0, height = 0] = pair.split(':').map(Number);
  return { pair, tier: findNearestTier(width * height), shape: width / height };
}

function readShape(ratio: string): number | undefined {
  const [, across, down] = /^([1-9]\d{0,4}):([1-9]\d{0,4})$/.exec(ratio) ?? [];
  return across === undefined ? undefined : Number(across) / Number(down);
}

function findNearestTier(area: number): string | undefined {
  const off = (tier: string): number => Math.abs(Math.log(area / (TIER_AREAS[tier] ?? 1)));
  return Object.keys(TIER_AREAS).sort((one, other) => off(one) - off(other))[0];
}
