/**
 * The prices of a million tokens. Each price is found under the first of its keys that a contract has, so the later
 * keys replace it. Cached input and the parts are subtracted from input or output.
 */
export const TOKEN_RATES = {
  input: { side: 'input', keys: ['input'] },
  cachedInput: { side: 'input', keys: ['cached_input', 'input'] },
  cachedAudio: { side: 'input', keys: ['cached_audio_input', 'cached_input', 'audio_input', 'input'] },
  cachedImage: { side: 'input', keys: ['cached_image_input', 'cached_input', 'image_input', 'input'] },
  cacheWrite: { side: 'input', keys: ['cache_write', 'input'] },
  cacheWrite1h: { side: 'input', keys: ['cache_write_1h', 'cache_write', 'input'] },
  audioInput: { side: 'input', keys: ['audio_input', 'input'] },
  imageInput: { side: 'input', keys: ['image_input', 'input'] },
  output: { side: 'output', keys: ['output'] },
  reasoning: { side: 'output', keys: ['reasoning', 'output'] },
  audioOutput: { side: 'output', keys: ['audio_output', 'output'] },
  imageOutput: { side: 'output', keys: ['image_output', 'output'] },
} as const;

export type TokenRate = keyof typeof TOKEN_RATES;
export const TOKEN_RATE_NAMES = Object.keys(TOKEN_RATES) as readonly TokenRate[];
/** The key of a price in the configuration. */
export type TokenKey = (typeof TOKEN_RATES)[TokenRate]['keys'][0];

/** The parts that an upstream reports in addition to input, cached input and output. */
export const TOKEN_PARTS = [
  'cacheWrite',
  'cacheWrite1h',
  'audioInput',
  'cachedAudio',
  'imageInput',
  'cachedImage',
  'reasoning',
  'audioOutput',
  'imageOutput',
] as const satisfies readonly TokenRate[];
export type TokenPart = (typeof TOKEN_PARTS)[number];
/** `cacheWrite` includes `cacheWrite1h`; sound and pictures include their cached part. An absent part is zero. */
export type TokenParts = Readonly<Partial<Record<TokenPart, bigint>>>;

export interface CountedTokens {
  readonly inputTokens: bigint;
  readonly cachedInputTokens?: bigint | undefined;
  readonly outputTokens: bigint;
  readonly parts?: TokenParts | undefined;
}

/**
 * Splits tokens into groups, each with a price. The groups take from the whole in this order: cached, written to a
 * cache, sound, pictures for the input; reasoning, sound, pictures for the output. A group gets at most the remaining
 * tokens.
 */
export function splitTokens({
  inputTokens,
  cachedInputTokens,
  outputTokens,
  parts = {},
}: CountedTokens): Record<TokenRate, bigint> {
  const input = takeOff(inputTokens);
  const cached = takeOff(input.take(cachedInputTokens));
  const written = takeOff(input.take(parts.cacheWrite));
  const [cachedAudio, cachedImage] = [cached.take(parts.cachedAudio), cached.take(parts.cachedImage)];
  const cacheWrite1h = written.take(parts.cacheWrite1h);
  const audioInput = input.take((parts.audioInput ?? 0n) - cachedAudio);
  const imageInput = input.take((parts.imageInput ?? 0n) - cachedImage);
  const output = takeOff(outputTokens);
  const reasoning = output.take(parts.reasoning);
  const audioOutput = output.take(parts.audioOutput);
  const imageOutput = output.take(parts.imageOutput);
  return {
    cachedAudio,
    cachedImage,
    cacheWrite1h,
    audioInput,
    imageInput,
    reasoning,
    audioOutput,
    imageOutput,
    cachedInput: cached.rest(),
    cacheWrite: written.rest(),
    input: input.rest(),
    output: output.rest(),
  };
}

interface Whole {
  /** Subtracts a part, at most the remaining amount, and returns the subtracted amount. */
  take(part: bigint | undefined): bigint;
  rest(): bigint;
}

function takeOff(whole: bigint): Whole {
  let left = whole;
  return {
    take: (part = 0n) => {
      const taken = part < 0n ? 0n : part < left ? part : left;
      left -= taken;
      return taken;
    },
    rest: () => left,
  };
}
