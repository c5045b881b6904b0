import type { ExtraFields, Json } from '@reelgate/adapter-kit';
import { buildModelOptions, extendRowSchema } from '@reelgate/adapter-kit/kit';
import type { ModelRow } from '@reelgate/adapter-kit/kit';

/** A pair of pixels, such as `1280:720`: the resolution that it is nearest to, and its width by its height. */
interface Pixels {
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
 * A model of Runway, as the configuration writes it too. `frame` is the form in which it takes the size of the video: as
 * pixels from a list, or as a resolution with or without a ratio. A route that the model does not have is absent.
 */
export interface RunwayModel extends ModelRow {
  readonly frame: 'pixels' | 'ratio and resolution' | 'resolution';
  /** Pixels that text_to_video accepts, such as `1280:720`. Empty if it has the route without pixels. */
  readonly text?: readonly string[] | undefined;
  /** The same of image_to_video. */
  readonly image?: readonly string[] | undefined;
  /** The extra fields that the model takes. */
  readonly extra?: readonly string[] | undefined;
}

const SEED_MAX = 2 ** 32 - 1;

/** Videos have sound unless it is turned off, and sound may cost more. */
export const RUNWAY_EXTRA: ExtraFields = {
  seed: { type: 'whole', least: 0, most: SEED_MAX },
  generate_audio: { type: 'flag', isPriced: true },
  negative_prompt: { type: 'text', charactersMax: 1000 },
  // Less moderation, for which the account of the operator answers.
  public_figure_threshold: { type: 'word', words: ['auto', 'low'], isForOperators: true },
};

const splitPairs = (pixels: string): readonly string[] => pixels.split(' ');
const FLAT_HD = splitPairs('1280:720 720:1280');
const GEN4 = splitPairs('1280:720 720:1280 1104:832 960:960 832:1104 1584:672');
const VEO_PIXELS = splitPairs('1280:720 720:1280 1080:1920 1920:1080');
const SEEDANCE_480P = splitPairs('992:432 864:496 752:560 640:640 560:752 496:864');
const SEEDANCE_720P = splitPairs('1470:630 1280:720 1112:834 960:960 834:1112 720:1280');
const SEEDANCE_1080P = splitPairs('2206:946 1920:1080 1664:1248 1440:1440 1248:1664 1080:1920');
const SEEDANCE_4K = splitPairs('3840:1646 3840:2160 3840:2880 3840:3840 2880:3840 2160:3840');
const SEEDANCE_25_480P = splitPairs('992:432 854:480 752:560 640:640 560:752 480:854');
const OMNI = splitPairs('640:360 360:640 1280:720 720:1280 1920:1080 1080:1920 3840:2160 2160:3840');

const inPixels = (pixels: readonly string[]) => ({ frame: 'pixels', text: pixels, image: pixels }) as const;
/** The reference bounds the seconds of videos and sounds, not their number. */
const toReferences = (images: number) => ({ images, videos: images, audios: images });

const GEN4_EXTRA = ['seed', 'public_figure_threshold'];
const GEN4_ROW = { seconds: { least: 2, most: 10 }, frames: 'first', promptMax: 1000, extra: GEN4_EXTRA } as const;
const VEO: RunwayModel = {
  ...inPixels(VEO_PIXELS),
  seconds: [4, 6, 8],
  frames: 'first and last',
  promptMax: 1000,
  extra: ['seed', 'negative_prompt', 'generate_audio'],
};
const SEEDANCE = { frames: 'first and last', extra: ['seed', 'generate_audio'] } as const;
const SEEDANCE_2 = { ...SEEDANCE, ...toReferences(9), promptMax: 3500 } as const;

/** The models that this adapter supports without further configuration, by their API ids. */
export const RUNWAY_MODELS: Readonly<Record<string, RunwayModel>> = {
  'gen4.5': { frame: 'pixels', text: FLAT_HD, image: GEN4, ...GEN4_ROW },
  gen4_turbo: { frame: 'pixels', image: GEN4, ...GEN4_ROW },
  'veo3.1': VEO,
  'veo3.1_fast': VEO,
  seedance2: {
    ...inPixels([...SEEDANCE_480P, ...SEEDANCE_720P, ...SEEDANCE_1080P, ...SEEDANCE_4K]),
    ...SEEDANCE_2,
  },
  seedance2_fast: { ...inPixels([...SEEDANCE_480P, ...SEEDANCE_720P]), ...SEEDANCE_2 },
  seedance2_mini: { ...inPixels([...SEEDANCE_480P, ...SEEDANCE_720P]), ...SEEDANCE_2 },
  seedance2_5: {
    ...inPixels([...SEEDANCE_25_480P, ...SEEDANCE_720P, ...SEEDANCE_1080P]),
    ...SEEDANCE,
    ...toReferences(30),
    promptMax: 15_000,
  },
  hailuo3: { frame: 'ratio and resolution', text: [], image: [], frames: 'first and last', ...toReferences(9) },
  h3_max: { frame: 'resolution', text: [], image: [], frames: 'first and last', extra: ['seed'] },
  'gemini_omni_flash_1.1': { ...inPixels(OMNI), seconds: { least: 3, most: 10 }, frames: 'first and last' },
};

const PAIRS: Json = { type: 'array', items: { type: 'string', pattern: '^[1-9][0-9]{1,4}:[1-9][0-9]{1,4}$' } };

export const RUNWAY_OPTIONS = buildModelOptions(
  extendRowSchema(
    {
      frame: { enum: ['pixels', 'ratio and resolution', 'resolution'] },
      text: PAIRS,
      image: PAIRS,
      extra: { type: 'array', items: { enum: Object.keys(RUNWAY_EXTRA) } },
    },
    ['frame'],
  ),
);

/** Maximum difference between the shape of a frame and the requested ratio, as a logarithm. */
const SHAPE_TOLERANCE = 0.06;
/** The ratio for `adaptive`, which pixels cannot express. */
const SHAPE_OF_ADAPTIVE = 16 / 9;

/** Returns the pixel pair for a ratio and a resolution, or undefined if the model has no such pair. */
export function choosePixels(
  pairs: readonly string[],
  ratio: string | undefined,
  resolution: string | undefined,
): string | undefined {
  const wanted = readShape(ratio ?? '') ?? SHAPE_OF_ADAPTIVE;
  const tier = resolution?.toLowerCase();
  let nearest: string | undefined;
  let leastOff = SHAPE_TOLERANCE;
  for (const one of pairs.map(readPixels)) {
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
