import type { JsonObject } from './protocol.ts';
import type { Usage } from '../../domain/call-usage.ts';
import { toUsage } from './quantities.ts';
import { readCounters } from './usage-counters.ts';
import type { Counters } from './usage-counters.ts';

/** Reads the usage that a whole answer reports. */
export function readAnswerUsage(answer: JsonObject): Usage | undefined {
  return resolveUsage(readCounters(answer));
}

const MEDIA = [
  { name: 'audioInput', isOutput: false },
  { name: 'imageInput', isOutput: false },
  { name: 'videoInput', isOutput: false },
  { name: 'audioOutput', isOutput: true },
  { name: 'imageOutput', isOutput: true },
] as const;

/** A counter that is either included in a total or added to it. */
interface Part {
  readonly count: number;
  readonly isOutput: boolean;
  /** True if the vendor's spelling says that the part is added. The total of the usage is better evidence. */
  readonly isBeside: boolean;
}

/**
 * Computes the usage from the counters after the last event. Input includes its cached tokens and output its reasoning,
 * as prices expect it. A total among the counters shows which of them are added to another. Without a total, the
 * spelling decides.
 */
export function resolveUsage(counters: Counters | undefined): Usage | undefined {
  if (counters === undefined) return undefined;
  const cached = Math.max(counters.cacheRead ?? 0, counters.cacheReadBeside ?? 0);
  const written = Math.max(
    counters.cacheWrite ?? 0,
    counters.cacheWriteBeside ?? 0,
    (counters.cacheWrite5m ?? 0) + (counters.cacheWrite1h ?? 0),
  );
  const reasoning = Math.max(counters.reasoning ?? 0, counters.thoughts ?? 0);
  const input = readInput(counters, cached);
  const tokens = addBeside(counters, { input, output: readOutput(counters), cached, written, reasoning });
  return toUsage({
    ...tokens,
    cachedInputTokens: pickKnown(cached, counters.cacheRead ?? counters.cacheReadBeside),
    cacheWriteTokens: pickPositive(written),
    cacheWrite1hTokens: pickPositive(counters.cacheWrite1h),
    audioInputTokens: pickPositive(counters.audioInput),
    cachedAudioTokens: pickPositive(counters.cachedAudio),
    imageInputTokens: pickPositive(counters.imageInput),
    cachedImageTokens: pickPositive(counters.cachedImage),
    reasoningTokens: pickPositive(reasoning),
    audioOutputTokens: pickPositive(counters.audioOutput),
    imageOutputTokens: pickPositive(counters.imageOutput),
    searches: pickPositive((counters.searches ?? 0) + (counters.xSearches ?? 0)),
    seconds: counters.seconds,
    images: counters.images,
    characters: counters.characters,
  });
}

/** Without a counter of the whole input, computes it as the remainder of the total or the sum of its parts. */
function readInput(counters: Counters, cached: number): number | undefined {
  const { prompt, input, total, cacheMiss, textInput } = counters;
  const missed = cacheMiss === undefined ? undefined : cached + cacheMiss;
  const known = pickLargest(prompt, input, missed);
  if (known !== undefined) return known;
  if (total !== undefined && total > 0) return Math.max(0, total - (readOutput(counters) ?? 0));
  if (textInput === undefined && counters.audioInput === undefined) return undefined;
  return sum(textInput, counters.audioInput, counters.imageInput, counters.videoInput);
}

function readOutput({ output, textOutput, audioOutput, imageOutput }: Counters): number | undefined {
  if (output !== undefined || (textOutput === undefined && audioOutput === undefined)) return output;
  return sum(textOutput, audioOutput, imageOutput);
}

interface Whole {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cached: number;
  readonly written: number;
  readonly reasoning: number;
}

function addBeside(counters: Counters, whole: Whole): Pick<Usage, 'inputTokens' | 'outputTokens'> {
  const { input = 0, output = 0 } = whole;
  const { beside, rest } = chooseBeside(listParts(counters, whole), { input, output, total: counters.total });
  const besideInput = sumParts(beside.filter(({ isOutput }) => !isOutput));
  // Mistral's total has the tokens of a recording that it bills by the second
  const unnamed = counters.seconds === undefined ? rest : 0;
  const besideOutput = sum(sumParts(beside.filter(({ isOutput }) => isOutput)), unnamed);
  return {
    ...(whole.input === undefined && besideInput === 0 ? {} : { inputTokens: sum(input, besideInput) }),
    ...(whole.output === undefined && besideOutput === 0 ? {} : { outputTokens: sum(output, besideOutput) }),
  };
}

function listParts(counters: Counters, { input = 0, output = 0, cached, written, reasoning }: Whole): readonly Part[] {
  // a vendor that spells the input as OpenAI's chat does counts the cache inside, also under Anthropic's names
  const isAnthropic = counters.prompt === undefined && counters.cacheMiss === undefined;
  const writeBeside = counters.cacheWriteBeside ?? counters.cacheWrite5m ?? counters.cacheWrite1h;
  return [
    { count: reasoning, isOutput: true, isBeside: counters.thoughts !== undefined || reasoning > output },
    { count: counters.toolUse ?? 0, isOutput: false, isBeside: true },
    { count: written, isOutput: false, isBeside: (isAnthropic && writeBeside !== undefined) || written > input },
    {
      count: cached,
      isOutput: false,
      isBeside: (isAnthropic && counters.cacheReadBeside !== undefined) || cached > input,
    },
    ...MEDIA.map(({ name, isOutput }) => {
      const count = counters[name] ?? 0;
      return { count, isOutput, isBeside: count > (isOutput ? output : input) };
    }),
  ].filter(({ count }) => count > 0);
}

interface WholeTokens {
  readonly input: number;
  readonly output: number;
  readonly total: number | undefined;
}

/**
 * Chooses the parts that are added to input and output: those that the total needs to add up. The spelling decides
 * without a total. A remainder that no part explains is output that the vendor does not itemize, as Gemini's thoughts
 * behind its interface for OpenAI's clients.
 */
function chooseBeside(
  parts: readonly Part[],
  { input, output, total }: WholeTokens,
): { readonly beside: readonly Part[]; readonly rest: number } {
  const spelled = parts.filter(({ isBeside }) => isBeside);
  const gap = (total ?? 0) - input - output;
  if (total === undefined || gap < 0) return { beside: spelled, rest: 0 };
  if (sumParts(spelled) === gap) return { beside: spelled, rest: 0 };
  const exact = listSubsets(parts).find(
    (subset) => sumParts(subset) === gap && holdsParts(subset, parts, { input, output }),
  );
  if (exact !== undefined) return { beside: exact, rest: 0 };
  return sumParts(spelled) > gap ? { beside: spelled, rest: 0 } : { beside: spelled, rest: gap - sumParts(spelled) };
}

/** An included part cannot be larger than its whole, whatever the total says. */
function holdsParts(
  beside: readonly Part[],
  parts: readonly Part[],
  { input, output }: Pick<WholeTokens, 'input' | 'output'>,
): boolean {
  return parts.every((part) => beside.includes(part) || part.count <= (part.isOutput ? output : input));
}

/** All subsets, the smaller ones first. */
function listSubsets(parts: readonly Part[]): readonly (readonly Part[])[] {
  return parts
    .reduce<readonly (readonly Part[])[]>(
      (subsets, part) => [...subsets, ...subsets.map((subset) => [...subset, part])],
      [[]],
    )
    .toSorted((left, right) => left.length - right.length);
}

function sumParts(parts: readonly Part[]): number {
  return sum(...parts.map(({ count }) => count));
}

function sum(...counts: readonly (number | undefined)[]): number {
  return Math.min(
    counts.reduce<number>((all, count) => all + (count ?? 0), 0),
    Number.MAX_SAFE_INTEGER,
  );
}

function pickLargest(...counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function pickKnown(count: number, known: number | undefined): number | undefined {
  return known === undefined ? undefined : count;
}

function pickPositive(count: number | undefined): number | undefined {
  return count === undefined || count === 0 ? undefined : count;
}
