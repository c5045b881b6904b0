import { anthropicCount, anthropicMessages } from './protocols/anthropic-messages.ts';
import { googleGenerate } from './protocols/google-generate.ts';
import { openaiChat } from './protocols/openai-chat.ts';
import { openaiResponses } from './protocols/openai-responses.ts';
import { embeddings, images, rerank, speech, transcription } from './protocols/plain.ts';
import type { Protocol } from './protocols/protocol.ts';

/** Where a synchronous route names its model. */
export type ModelPlace = 'body' | 'path' | 'query';

/** A registered route that is passed through to an upstream, without a task. */
export interface RelayEndpoint {
  /** As channels name it. */
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly model: ModelPlace;
  /** Whether its body can be a form. */
  readonly takesForms: boolean;
  readonly protocol: Protocol;
  /** Costs nothing here, whatever its model costs. */
  readonly isFree: boolean;
  readonly summary: string;
}

const post = (name: string, path: string, protocol: Protocol, more: Partial<RelayEndpoint> & Pick<RelayEndpoint, 'summary'>): RelayEndpoint =>
  ({ name, method: 'POST', path, model: 'body', takesForms: false, isFree: false, protocol, ...more });

/** One row a route. */
export const relayEndpoints: readonly RelayEndpoint[] = [
  post('chat', '/v1/chat/completions', openaiChat, { summary: 'Chat, as JSON or as a stream' }),
  post('responses', '/v1/responses', openaiResponses, { summary: 'Responses, as JSON or as a stream' }),
  post('messages', '/v1/messages', anthropicMessages, { summary: 'Messages, as JSON or as a stream' }),
  post('messages', '/v1/messages/count_tokens', anthropicCount, { isFree: true, summary: 'Count the tokens of messages; free of charge' }),
  post('generate_content', '/v1beta/models/{model}:generateContent', googleGenerate, { model: 'path', summary: 'Generate content' }),
  post('generate_content', '/v1beta/models/{model}:streamGenerateContent', googleGenerate, { model: 'path', summary: 'Generate content as a stream' }),
  post('generate_content', '/v1/models/{model}:generateContent', googleGenerate, { model: 'path', summary: 'Generate content' }),
  post('generate_content', '/v1/models/{model}:streamGenerateContent', googleGenerate, { model: 'path', summary: 'Generate content as a stream' }),
  post('embeddings', '/v1/embeddings', embeddings, { summary: 'Embeddings' }),
  post('rerank', '/v1/rerank', rerank, { summary: 'Rerank documents' }),
  post('images.generations', '/v1/images/generations', images, { summary: 'Make images' }),
  post('images.edits', '/v1/images/edits', images, { takesForms: true, summary: 'Edit images' }),
  post('audio.speech', '/v1/audio/speech', speech, { summary: 'Speech from text' }),
  post('audio.transcriptions', '/v1/audio/transcriptions', transcription, { takesForms: true, summary: 'Text from speech' }),
  post('audio.translations', '/v1/audio/translations', transcription, { takesForms: true, summary: 'English text from speech' }),
];
