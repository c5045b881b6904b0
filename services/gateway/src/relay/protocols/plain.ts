import { encodeOpenaiFault, readOpenaiUsage } from './openai.ts';
import { inputTokensMax, readList, readObject, pickQuantity, sumQuantities, toUsage } from './quantities.ts';
import { quoteWords } from './protocol.ts';
import type { CallContent, Protocol, StreamRules } from './protocol.ts';

/** A stream whose last event has the usage at its top level, as for images and audio. */
const EVENTS: StreamRules = {
  usageMarks: quoteWords('usage'),
  usageAfter: (event, before) => readOpenaiUsage(event) ?? before,
  textNames: quoteWords('delta'),
  faultFrame: (fault) => `data: ${encodeOpenaiFault(fault)}\n\n`,
};

export const embeddings: Protocol = {
  name: 'embeddings',
  stream: EVENTS,
  usageMembers: ['usage'],
  readsOnlyUsage: true,
  isStream: () => false,
  priceFacts: (content) => ({ inputTokens: inputTokensMax(content), outputTokens: 0 }),
  usageIn: (answer) => {
    const usage = readOpenaiUsage(answer);
    return usage === undefined ? undefined : { ...usage, outputTokens: 0 };
  },
};

export const rerank: Protocol = {
  name: 'rerank',
  stream: EVENTS,
  usageMembers: ['usage', 'meta'],
  isStream: () => false,
  priceFacts: (content) => ({ inputTokens: inputTokensMax(content), outputTokens: 0 }),
  // Cohere reports its billed units under `meta`; others report a usage
  usageIn: (answer) => {
    const units = readObject(readObject(answer, 'meta'), 'billed_units');
    return toUsage({
      inputTokens: pickQuantity(units['input_tokens'], readOpenaiUsage(answer)?.inputTokens),
      outputTokens: pickQuantity(units['output_tokens'], 0),
    });
  },
};

export const images: Protocol = {
  name: 'images',
  stream: {
    ...EVENTS,
    usageMarks: quoteWords('image_generation.completed', 'image_edit.completed'),
    usageAfter: (event, before) => ({ ...before, images: (before?.images ?? 0) + 1, ...readOpenaiUsage(event) }),
  },
  usageMembers: ['usage'],
  isStream: (content) => readSetting(content, 'stream') === 'true',
  priceFacts: (content) => ({ images: countRequestedImages(content) }),
  usageIn: (answer, content) => {
    const made = readList(answer, 'data').length;
    return { ...readOpenaiUsage(answer), images: made > 0 ? made : countRequestedImages(content) };
  },
  usageOfWhole: (content) => ({ images: countRequestedImages(content) }),
};

export const speech: Protocol = {
  name: 'speech',
  stream: EVENTS,
  usageMembers: ['usage'],
  isStream: ({ json }) => json?.['stream_format'] === 'sse',
  priceFacts: (content) => ({ characters: countCharacters(content) }),
  usageIn: (answer, content) => ({ ...readOpenaiUsage(answer), characters: countCharacters(content) }),
  usageOfWhole: (content) => ({ characters: countCharacters(content) }),
};

export const transcription: Protocol = {
  name: 'transcription',
  stream: EVENTS,
  usageMembers: ['usage'],
  isStream: (content) => readSetting(content, 'stream') === 'true',
  // a recording's length is inside its bytes, in dozens of formats
  priceFacts: () => ({}),
  usageIn: (answer) =>
    toUsage({
      ...readOpenaiUsage(answer),
      seconds: pickQuantity(readObject(answer, 'usage')['seconds'], answer['duration']),
    }),
};

function countRequestedImages(content: CallContent): number {
  return Math.max(1, sumQuantities(Number(readSetting(content, 'n') ?? 1)) ?? 1);
}

function countCharacters({ json }: CallContent): number {
  const input = json?.['input'];
  return typeof input === 'string' ? [...input].length : 0;
}

/** Reads a setting from a JSON body or a form, as text. */
function readSetting({ json, fields }: CallContent, name: string): string | undefined {
  const value = json === undefined ? fields.get(name) : json[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}
