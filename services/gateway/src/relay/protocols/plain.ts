import { readOwn } from '../../domain/read-own.ts';
import { encodeOpenaiFault } from './openai.ts';
import { inputTokensMax, sumQuantities, toUsage } from './quantities.ts';
import { readList } from './members.ts';
import {
  countImages,
  embeddingsDelivery,
  IMAGE_MARKS,
  imagesDelivery,
  rerankDelivery,
  speechDelivery,
  transcriptionDelivery,
} from './delivery.ts';
import { quoteWords } from './mentions.ts';
import { USAGE_MARKS } from './protocol.ts';
import type { AnswerPart, CallContent, Protocol, StreamRules } from './protocol.ts';
import type { Usage } from '../../domain/call-usage.ts';
import { readAnswerUsage } from './resolve-usage.ts';
import { imagesState } from './state.ts';
import { raiseCounters, readQuantity } from './usage-counters.ts';

/** The documents of one unit of a rerank, as Cohere bills it. */
const DOCUMENTS_A_SEARCH = 100;

/** An ordinary voice. */
const CHARACTERS_A_SECOND = 15;
const CHARACTERS_A_TOKEN = 4;
const SOUND_TOKENS_A_SECOND = 20;
/** The usual rates of speech by format. A broken answer of another format is counted at the highest rate. */
const SOUND_BYTES_A_SECOND_MOST = 48_000;
const SOUND_BYTES_A_SECOND: Readonly<Record<string, number>> = {
  mp3: 16_000,
  opus: 8000,
  aac: 16_000,
  flac: 24_000,
  wav: SOUND_BYTES_A_SECOND_MOST,
  pcm: SOUND_BYTES_A_SECOND_MOST,
};

/** The rules of a stream with the usage at the top level of its last event, as for images and audio. */
const EVENTS: StreamRules = {
  usageMarks: USAGE_MARKS,
  countersAfter: raiseCounters,
  textNames: quoteWords('delta', 'audio'),
  faultFrame: (fault) => `data: ${encodeOpenaiFault(fault)}\n\n`,
};

export const embeddings: Protocol = {
  name: 'embeddings',
  delivery: embeddingsDelivery,
  faultBody: encodeOpenaiFault,
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
  delivery: rerankDelivery,
  faultBody: encodeOpenaiFault,
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
  delivery: imagesDelivery,
  state: imagesState,
  faultBody: encodeOpenaiFault,
  stream: {
    ...EVENTS,
    usageMarks: quoteWords('image_generation.completed', 'image_edit.completed'),
    countersAfter: (event, before) => ({ ...raiseCounters(event, before), images: (before?.images ?? 0) + 1 }),
  },
  isStream: (content) => readSetting(content, 'stream') === 'true',
  priceFacts: (content) => ({ images: countRequestedImages(content) }),
  usageIn: (answer, content) => ({
    ...readAnswerUsage(answer),
    // the end of a long answer has no list, and its images were counted as they passed
    images: 'data' in answer || 'images' in answer ? countImages(answer) : countRequestedImages(content),
  }),
  usageOfWhole: (content) => ({ images: countRequestedImages(content) }),
  usageOfPart: (_content, { usage }) => (usage?.images === undefined || usage.images === 0 ? undefined : usage),
  imageMarks: IMAGE_MARKS,
};

export const speech: Protocol = {
  name: 'speech',
  delivery: speechDelivery,
  faultBody: encodeOpenaiFault,
  stream: EVENTS,
  isStream: ({ json }) => json?.['stream_format'] === 'sse',
  priceFacts: (content) => ({ characters: countCharacters(content) }),
  usageIn: (answer, content) => ({ characters: countCharacters(content), ...readAnswerUsage(answer) }),
  usageOfWhole: (content) => ({ characters: countCharacters(content) }),
  usageOfPart: estimateSpeech,
};

export const transcription: Protocol = {
  name: 'transcription',
  delivery: transcriptionDelivery,
  faultBody: encodeOpenaiFault,
  stream: EVENTS,
  isStream: (content) => readSetting(content, 'stream') === 'true',
  // a recording's length is inside its bytes, in dozens of formats
  priceFacts: () => ({}),
  usageIn: (answer) => {
    const usage = readAnswerUsage(answer);
    return toUsage({ ...usage, seconds: usage?.seconds ?? readQuantity(answer['duration']) });
  },
  usageOfPart: estimateTranscription,
};

/** Of the sound that came. */
function estimateSpeech(content: CallContent, { usage, textBytes, announcedBytes }: AnswerPart): Usage {
  const characters = countCharacters(content);
  const format = readSetting(content, 'response_format') ?? 'mp3';
  // events carry sound as base64
  const bytes = speech.isStream(content) ? (textBytes * 3) / 4 : textBytes;
  const seconds = bytes / (readOwn(SOUND_BYTES_A_SECOND, format) ?? SOUND_BYTES_A_SECOND_MOST);
  const spoken = announcedBytes === undefined ? seconds * CHARACTERS_A_SECOND : (characters * bytes) / announcedBytes;
  return {
    inputTokens: Math.ceil(characters / CHARACTERS_A_TOKEN),
    outputTokens: Math.ceil(seconds * SOUND_TOKENS_A_SECOND),
    seconds: Math.ceil(seconds),
    ...usage,
    characters: Math.min(characters, Math.ceil(spoken)),
  };
}

/** Of the text that came: the recording that it was read from. */
function estimateTranscription(_content: CallContent, { usage, textBytes }: AnswerPart): Usage {
  const seconds = textBytes / CHARACTERS_A_SECOND;
  return {
    inputTokens: Math.ceil(seconds * SOUND_TOKENS_A_SECOND),
    outputTokens: Math.ceil(textBytes / CHARACTERS_A_TOKEN),
    seconds: Math.ceil(seconds),
    ...usage,
  };
}

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
