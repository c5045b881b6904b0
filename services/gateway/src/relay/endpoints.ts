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
  readonly summary: string;
}

const post = (name: string, path: string, summary: string, more: Partial<RelayEndpoint> = {}): RelayEndpoint =>
  ({ name, method: 'POST', path, summary, model: 'body', takesForms: false, ...more });

/** One row a route. */
export const relayEndpoints: readonly RelayEndpoint[] = [
  post('chat', '/v1/chat/completions', 'Chat, as JSON or as a stream'),
  post('responses', '/v1/responses', 'Responses, as JSON or as a stream'),
  post('messages', '/v1/messages', 'Messages, as JSON or as a stream'),
  post('generate_content', '/v1beta/models/{model}:generateContent', 'Generate content', { model: 'path' }),
  post('generate_content', '/v1beta/models/{model}:streamGenerateContent', 'Generate content as a stream', { model: 'path' }),
  post('generate_content', '/v1/models/{model}:generateContent', 'Generate content', { model: 'path' }),
  post('generate_content', '/v1/models/{model}:streamGenerateContent', 'Generate content as a stream', { model: 'path' }),
  post('embeddings', '/v1/embeddings', 'Embeddings'),
  post('rerank', '/v1/rerank', 'Rerank documents'),
  post('images.generations', '/v1/images/generations', 'Make images'),
  post('images.edits', '/v1/images/edits', 'Edit images', { takesForms: true }),
  post('audio.speech', '/v1/audio/speech', 'Speech from text'),
  post('audio.transcriptions', '/v1/audio/transcriptions', 'Text from speech', { takesForms: true }),
  post('audio.translations', '/v1/audio/translations', 'English text from speech', { takesForms: true }),
  { name: 'realtime', method: 'GET', path: '/v1/realtime', model: 'query', takesForms: false, summary: 'Realtime over a WebSocket' },
];
