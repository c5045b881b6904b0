import { anthropicCount, anthropicMessages } from './protocols/anthropic-messages.ts';
import { googleGenerate } from './protocols/google-generate.ts';
import { openaiChat } from './protocols/openai.ts';
import { openaiResponses } from './protocols/openai.ts';
import { embeddings, images, rerank, speech, transcription } from './protocols/plain.ts';
import type { Protocol } from './protocols/protocol.ts';

/** The part of the request in which a synchronous route names its model. */
export type ModelLocation = 'body' | 'path' | 'query';

/** A registered route that is passed through to an upstream, without a task. */
export interface RelayEndpoint {
  /** The name that channels use. */
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly model: ModelLocation;
  /** True if its body can be a form. */
  readonly takesForms: boolean;
  readonly protocol: Protocol;
  /** Its calls are free at any price of the model. */
  readonly isFree: boolean;
  /** Its calls have no effect upstream, so a job is called again if its gateway died while it was running. */
  readonly isRepeatable: boolean;
  /** Media types of its answers, besides JSON. */
  readonly answersAlso: readonly string[];
  readonly summary: string;
}

const post = (
  name: string,
  path: string,
  protocol: Protocol,
  more: Partial<RelayEndpoint> & { readonly summary: string },
): RelayEndpoint => ({
  name,
  method: 'POST',
  path,
  model: 'body',
  takesForms: false,
  isFree: false,
  isRepeatable: false,
  answersAlso: [],
  protocol,
  ...more,
});

const EVENTS = 'text/event-stream';

/** The name that channels use for the one route that is a WebSocket and therefore not in the table. */
export const REALTIME_ENDPOINT = 'realtime';

/**
 * Returns the path of a call of an endpoint, as its row has it. The path of a client may end in a slash or escape other
 * characters, but the route and the upstream must read the same path.
 */
export function toEndpointPath({ path }: RelayEndpoint, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/, (_, name: string) => encodePathPart(params[name] ?? ''));
}

/** Encodes a part of a path. The ids of models contain `:` and `@`, which need no escape. */
export function encodePathPart(part: string): string {
  return encodeURIComponent(part).replaceAll('%3A', ':').replaceAll('%40', '@');
}

/** One row for each route. */
export const relayEndpoints: readonly RelayEndpoint[] = [
  post('chat', '/v1/chat/completions', openaiChat, { answersAlso: [EVENTS], summary: 'Chat, as JSON or as a stream' }),
  post('responses', '/v1/responses', openaiResponses, {
    answersAlso: [EVENTS],
    summary: 'Responses, as JSON or as a stream',
  }),
  post('messages', '/v1/messages', anthropicMessages, {
    answersAlso: [EVENTS],
    summary: 'Messages, as JSON or as a stream',
  }),
  post('messages', '/v1/messages/count_tokens', anthropicCount, {
    isFree: true,
    isRepeatable: true,
    summary: 'Count the tokens of messages; free of charge',
  }),
  post('generate_content', '/v1beta/models/{model}:generateContent', googleGenerate, {
    model: 'path',
    summary: 'Generate content',
  }),
  post('generate_content', '/v1beta/models/{model}:streamGenerateContent', googleGenerate, {
    model: 'path',
    answersAlso: [EVENTS],
    summary: 'Generate content as a stream',
  }),
  post('generate_content', '/v1/models/{model}:generateContent', googleGenerate, {
    model: 'path',
    summary: 'Generate content',
  }),
  post('generate_content', '/v1/models/{model}:streamGenerateContent', googleGenerate, {
    model: 'path',
    answersAlso: [EVENTS],
    summary: 'Generate content as a stream',
  }),
  post('embeddings', '/v1/embeddings', embeddings, { summary: 'Embeddings' }),
  post('rerank', '/v1/rerank', rerank, { summary: 'Rerank documents' }),
  post('images.generations', '/v1/images/generations', images, { answersAlso: [EVENTS], summary: 'Make images' }),
  post('images.edits', '/v1/images/edits', images, { takesForms: true, answersAlso: [EVENTS], summary: 'Edit images' }),
  post('audio.speech', '/v1/audio/speech', speech, {
    answersAlso: ['audio/mpeg', EVENTS],
    summary: 'Speech from text',
  }),
  post('audio.transcriptions', '/v1/audio/transcriptions', transcription, {
    takesForms: true,
    answersAlso: ['text/plain', EVENTS],
    summary: 'Text from speech',
  }),
  post('audio.translations', '/v1/audio/translations', transcription, {
    takesForms: true,
    answersAlso: ['text/plain'],
    summary: 'English text from speech',
  }),
];
