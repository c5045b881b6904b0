import { encodeOpenaiFault } from './openai.ts';
import { inputTokensMax, readList, sumQuantities, toUsage } from './quantities.ts';
import { USAGE_MARKS, quoteWords } from './protocol.ts';
import type { CallContent, Protocol, StreamRules } from './protocol.ts';
import { readAnswerUsage } from './resolve-usage.ts';
import { raiseCounters, readQuantity } from './usage-counters.ts';

/** The documents of one unit of a rerank, as Cohere bills it. */
const DOCUMENTS_A_SEARCH = 100;

/** A stream whose last event has the usage at its top level, as for images and audio. */
const EVENTS: StreamRules = {
  usageMarks: USAGE_MARKS,
  countersAfter: raiseCounters,
  textNames: quoteWords('delta'),
  faultFrame: (fault) => `data: ${encodeOpenaiFault(fault)}\n\n`,
};

export const embeddings: Protocol = {
  name: 'embeddings',
  stream: EVENTS,
  readsOnlyUsage: true,
  isStream: () => false,
  priceFacts: (content) => ({ inputTokens: inputTokensMax(content), outputTokens: 0 }),
  usageIn: (answer) => {
    const usage = readAnswerUsage(answer);
    return usage === undefined ? undefined : { ...usage, outputTokens: 0 };
  },
};

export const rerank: Protocol = {
  name: 'rerank',
  stream: EVENTS,
  isStream: () => false,
  priceFacts: (content) => ({
    inputTokens: inputTokensMax(content),
    outputTokens: 0,
    searches: Math.max(1, Math.ceil(readList(content.json, 'documents').length / DOCUMENTS_A_SEARCH)),
  }),
  usageIn: (answer) => ({ outputTokens: 0, ...readAnswerUsage(answer) }),
};

export const images: Protocol = {
  name: 'images',
  stream: {
    ...EVENTS,
    usageMarks: quoteWords('image_generation.completed', 'image_edit.completed'),
    countersAfter: (event, before) => ({ ...raiseCounters(event, before), images: (before?.images ?? 0) + 1 }),
  },
  isStream: (content) => readSetting(content, 'stream') === 'true',
  priceFacts: (content) => ({ images: countRequestedImages(content) }),
  usageIn: (answer, content) => {
    const made = readList(answer, 'data').length;
    return { ...readAnswerUsage(answer), images: made > 0 ? made : countRequestedImages(content) };
  },
  usageOfWhole: (content) => ({ images: countRequestedImages(content) }),
};

export const speech: Protocol = {
  name: 'speech',
  stream: EVENTS,
  isStream: ({ json }) => json?.['stream_format'] === 'sse',
  priceFacts: (content) => ({ characters: countCharacters(content) }),
  usageIn: (answer, content) => ({ characters: countCharacters(content), ...readAnswerUsage(answer) }),
  usageOfWhole: (content) => ({ characters: countCharacters(content) }),
};

export const transcription: Protocol = {
  name: 'transcription',
  stream: EVENTS,
  isStream: (content) => readSetting(content, 'stream') === 'true',
  // a recording's length is inside its bytes, in dozens of formats
  priceFacts: () => ({}),
  usageIn: (answer) => {
    const usage = readAnswerUsage(answer);
    return toUsage({ ...usage, seconds: usage?.seconds ?? readQuantity(answer['duration']) });
  },
};

function countRequestedImages(content: CallContent): number {
  return Math.max(1, sumQuantities(Number(readSetting(content, 'n') ?? 1)) ?? 1);
}

function countCharacters({ json }: CallContent): number {
  const input = json?.['input'];
  if (typeof input !== 'string') return 0;
  let pairs = 0;
  for (let at = 1; at < input.length; at += 1) if (isPair(input.charCodeAt(at - 1), input.charCodeAt(at))) pairs += 1;
  return input.length - pairs;
}

/** Reports whether two units of a text are one character. */
function isPair(first: number, second: number): boolean {
  return first >= 0xd800 && first < 0xdc00 && second >= 0xdc00 && second < 0xe000;
}

/** Reads a setting from a JSON body or a form, as text. */
function readSetting({ json, fields }: CallContent, name: string): string | undefined {
  const value = json === undefined ? fields.get(name) : json[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}
