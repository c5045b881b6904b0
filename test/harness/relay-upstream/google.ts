import { errorText, RELAY_KEYS } from './identities.ts';
import { data, json, piecesFor, textFor, usedBy } from './reply.ts';
import type { Answer, Vendor } from './reply.ts';
import type { Received } from './received.ts';

const STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

const failure = (code: number, { model, channel }: Received): object => ({
  error: { code, message: errorText(model, RELAY_KEYS[channel] ?? ''), status: STATUS[code] ?? 'UNKNOWN' },
});

export const google: Vendor = { error: failure, errorFrame: (asked) => data(failure(503, asked)) };

export const generateContent: Answer = (asked) => json(part(asked, textFor(asked), true));

/** A stream of events, for the `alt=sse` that every SDK requests. */
export const streamGenerateContent: Answer = (asked) => {
  const pieces = piecesFor(asked);
  return { kind: 'stream', frames: pieces.map((text, at) => data(part(asked, text, at === pieces.length - 1))) };
};

function part(asked: Received, text: string, last: boolean): object {
  const { input, output } = usedBy(asked);
  const usage = {
    promptTokenCount: input,
    ...(last ? { candidatesTokenCount: output } : {}),
    totalTokenCount: input + (last ? output : 0),
  };
  return {
    candidates: [
      { content: { role: 'model', parts: [{ text }] }, ...(last ? { finishReason: 'STOP' } : {}), index: 0 },
    ],
    ...(asked.words.has('no-usage') ? {} : { usageMetadata: usage }),
    modelVersion: asked.model,
    responseId: 'response-1',
  };
}
