import { openaiFault, openaiUsage } from './openai-usage.ts';
import { inputTokensMax, listIn, objectIn, quantityOf, sumOf, usageOf } from './quantities.ts';
import { wordsInBytes } from './protocol.ts';
import type { CallContent, Protocol, StreamRules } from './protocol.ts';

/** A stream whose last event has the usage at its top level, as for images and audio. */
const EVENTS: StreamRules = {
  usageMarks: wordsInBytes('usage'),
  usageAfter: (event, before) => openaiUsage(event) ?? before,
  textNames: wordsInBytes('delta'),
  faultFrame: (fault) => `data: ${openaiFault(fault)}\n\n`,
};

export const embeddings: Protocol = {
  name: 'embeddings',
  stream: EVENTS,
  usageMembers: ['usage'],
  readsOnlyUsage: true,
  isStream: () => false,
  priceFacts: (content) => ({ inputTokens: inputTokensMax(content), outputTokens: 0 }),
  usageIn: (answer) => {
    const usage = openaiUsage(answer);
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
    const units = objectIn(objectIn(answer, 'meta'), 'billed_units');
    return usageOf({
      inputTokens: quantityOf(units['input_tokens'], openaiUsage(answer)?.inputTokens),
      outputTokens: quantityOf(units['output_tokens'], 0),
    });
  },
};

export const images: Protocol = {
  name: 'images',
  stream: {
    ...EVENTS,
    usageMarks: wordsInBytes('image_generation.completed', 'image_edit.completed'),
    usageAfter: (event, before) => ({ ...before, images: (before?.images ?? 0) + 1, ...openaiUsage(event) }),
  },
  usageMembers: ['usage'],
  isStream: (content) => settingOf(content, 'stream') === 'true',
  priceFacts: (content) => ({ images: imagesAskedFor(content) }),
  usageIn: (answer, content) => {
    const made = listIn(answer, 'data').length;
    return { ...openaiUsage(answer), images: made > 0 ? made : imagesAskedFor(content) };
  },
  usageOfWhole: (content) => ({ images: imagesAskedFor(content) }),
};

export const speech: Protocol = {
  name: 'speech',
  stream: EVENTS,
  usageMembers: ['usage'],
  isStream: ({ json }) => json?.['stream_format'] === 'sse',
  priceFacts: (content) => ({ characters: charactersOf(content) }),
  usageIn: (answer, content) => ({ ...openaiUsage(answer), characters: charactersOf(content) }),
  usageOfWhole: (content) => ({ characters: charactersOf(content) }),
};

export const transcription: Protocol = {
  name: 'transcription',
  stream: EVENTS,
  usageMembers: ['usage'],
  isStream: (content) => settingOf(content, 'stream') === 'true',
  // a recording's length is inside its bytes, in dozens of formats
  priceFacts: () => ({}),
  usageIn: (answer) =>
    usageOf({ ...openaiUsage(answer), seconds: quantityOf(objectIn(answer, 'usage')['seconds'], answer['duration']) }),
};

function imagesAskedFor(content: CallContent): number {
  return Math.max(1, sumOf(Number(settingOf(content, 'n') ?? 1)) ?? 1);
}

function charactersOf({ json }: CallContent): number {
  const input = json?.['input'];
  return typeof input === 'string' ? [...input].length : 0;
}

/** Reads a setting from a JSON body or a form, as text. */
function settingOf({ json, fields }: CallContent, name: string): string | undefined {
  const value = json === undefined ? fields.get(name) : json[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}
