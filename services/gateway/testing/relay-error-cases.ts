/** An error that an upstream sends with the status 200. */
export interface ErrorCase {
  /** Default: JSON. */
  readonly type?: string;
  readonly body: string | object;
  /** The encoding that its header tells. */
  readonly encoding?: string;
  /** The status that the client gets; default: 502. */
  readonly status?: number;
  /** True if the client asks for a stream. */
  readonly streams?: boolean;
}

/** The errors of one route. */
export interface RouteErrors {
  /** A request whose answer could be this error. */
  readonly request: (error: ErrorCase) => object;
  /** By what the error is. */
  readonly errors: Readonly<Record<string, ErrorCase>>;
}

const EVENTS = 'text/event-stream';
export const sse = (data: object | string): string =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
export const named = (type: string, more: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
/** The path of a route for a client. */
export const toPath = (template: string): string => template.replace('{model}', 'some-model');

const stream = (...frames: readonly string[]): ErrorCase => ({ type: EVENTS, body: frames.join(''), streams: true });

/** Longer than an answer that is read for nothing but its usage. */
const LONG = 'y'.repeat(9000);
const USED = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
const BYTE_ORDER_MARK = '\uFEFF';

/** The forms that any endpoint can answer with. */
const everywhere = (message: string): RouteErrors['errors'] => ({
  'an error object': { body: { error: { code: 503, message } }, status: 503 },
  'an error object beside its list': { body: { error: { message }, data: [], choices: [], output: [] } },
  'an error by a word': { body: { error: { type: 'overloaded_error', message } }, status: 503 },
  'an error of text': { body: { error: message } },
  'an error that another web framework writes': { body: { detail: message } },
  'an error of a flag': { body: { error: true, message } },
  'a list of errors': { body: { success: false, result: null, errors: [{ code: 503, message }] }, status: 503 },
  'a code beside a message': { body: { code: 'InternalError', message, request_id: 'r' } },
  'a limit by a code beside a message': { body: { code: 'Throttling.RateQuota', message }, status: 429 },
  'a number of MiniMax': { body: { choices: null, data: [], base_resp: { status_code: 1000, status_msg: message } } },
  'a limit by a number of MiniMax': { body: { base_resp: { status_code: 1002, status_msg: message } }, status: 429 },
  'an error in a list': { body: [{ error: { code: 500, message } }], status: 500 },
  'an empty object': { body: {} },
  'an empty body': { body: '' },
  'an empty body without a type': { type: '', body: '' },
  'a page': { type: 'text/plain', body: `<!doctype html><p>${message}</p>` },
  'a page without a head': { type: 'text/plain', body: `<h1>502 Bad Gateway</h1><p>${message}</p>` },
  'a page of XML': { type: 'application/xml', body: `<Response><Message>${message}</Message></Response>` },
  'an error behind a byte order mark': { body: `${BYTE_ORDER_MARK}${JSON.stringify({ error: { message } })}` },
  'an error in an encoding that only its header has': { encoding: 'compress', body: { error: message } },
  'a long object without an answer': { body: { message, padding: LONG, usage: USED } },
  'lines of JSON': { type: 'application/x-ndjson', body: `${JSON.stringify({ error: message })}\n{"done":true}\n` },
  'JSON that breaks off': { body: '{"choices":[{"message":{"content":"x' },
});
/** The forms of any stream of events. */
const inStreams = (message: string, begin: string): RouteErrors['errors'] => ({
  'a stream without an event': stream(),
  'a stream of comments': stream(': UP\n\n', ': UP\n\n'),
  'a stream that ends before it has begun': stream(begin),
  'a stream with only an end': stream(sse('[DONE]')),
  'an error as the first event': { ...stream(sse({ error: { code: 503, message } })), status: 503 },
  'an error after a comment and a beginning': stream(': UP\n\n', begin, sse({ error: { message } }), sse('[DONE]')),
  'a bare error': stream(begin, sse({ code: 'InternalError', message, request_id: 'r' })),
  'a list of errors as an event': stream(sse({ errors: [{ message }] }), sse('[DONE]')),
  'a bare error by the name of its event': stream(
    `id:1\nevent:error\n:HTTP_STATUS/500\ndata:${JSON.stringify({ code: 'InternalError', message })}\n\n`,
  ),
  'an error event of text': stream(`event: error\ndata: ${message}\n\n`),
  'an error event as plain text': { ...stream(begin, sse({ error: { message } })), type: 'text/plain' },
  'an error instead of a stream': { body: { error: { message } }, streams: true },
  'an error as events without a frame': { ...stream(JSON.stringify({ error: { message } })) },
});

const CHAT_ROLE = sse({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] });
const chat = (message: string): RouteErrors['errors'] => ({
  ...everywhere(message),
  ...inStreams(message, CHAT_ROLE),
  'no choices': { body: { choices: [] } },
  'no choices, with a usage': { body: { choices: [], usage: { prompt_tokens: 1000, completion_tokens: 500 } } },
  'a choice without a word or a reason': { body: { choices: [{ message: { content: '' }, finish_reason: null }] } },
  'a choice that ends in an error': {
    body: { choices: [{ message: { content: 'half' }, finish_reason: 'error' }], usage: { completion_tokens: 9 } },
  },
  'a choice that ends in an error of the network': {
    body: { choices: [{ message: { content: '' }, finish_reason: 'network_error' }], usage: { prompt_tokens: 9 } },
  },
  'a choice that lacked resources': {
    body: { choices: [{ message: { content: 'h' }, finish_reason: 'insufficient_system_resource' }] },
  },
  ...Object.fromEntries(
    ['ERROR', 'failed', 'abort', 'cancelled', 'timeout', 'insufficient_system_resource', 'network_error'].flatMap(
      (reason): [string, ErrorCase][] => {
        const choices = [{ message: { role: 'assistant', content: '' }, finish_reason: reason }];
        const last = sse({ choices: [{ delta: { content: '' }, finish_reason: reason }], usage: USED });
        return [
          [`a choice that ends by ${reason}`, { body: { choices, usage: USED } }],
          [`a long answer that ends by ${reason}`, { body: { choices, padding: LONG, usage: USED } }],
          [`a stream that ends by ${reason}`, stream(CHAT_ROLE, last, sse('[DONE]'))],
        ];
      },
    ),
  ),
  'an empty choice in a long answer': { body: { choices: [{}], padding: LONG, usage: USED } },
  'a long answer without a word': {
    body: { choices: [{ message: { content: null }, finish_reason: null }], padding: LONG, usage: USED },
  },
  'a long answer whose choice is another member': {
    body: { padding: [LONG, { choices: [{ message: { content: 'x' } }] }], choices: [{}], usage: USED },
  },
  'a choice of metadata': {
    body: {
      choices: [{ message: { role: 'assistant', content: null, name: 'n', provider_specific_fields: { x: 1 } } }],
      usage: USED,
    },
  },
  'a choice with empty parts': {
    body: { choices: [{ message: { content: [{ type: 'text', text: '' }], tool_calls: [{}] } }], usage: USED },
  },
  'a stream of metadata': stream(
    sse({ choices: [{ delta: { role: 'assistant', name: 'bot' } }] }),
    sse({ choices: [{ delta: { role: 'assistant', id: 'a', object: 'x', provider_specific_fields: { x: 1 } } }] }),
    sse('[DONE]'),
  ),
  'a choice with an error': {
    body: { choices: [{ message: { content: '' }, finish_reason: 'stop', error: { code: 429, message } }] },
    status: 429,
  },
  'a stream that ends in an error': stream(
    sse({ error: { code: 502, message }, choices: [{ delta: { content: '' }, finish_reason: 'error' }] }),
    sse('[DONE]'),
  ),
  'a stream with a reason of an error': stream(CHAT_ROLE, sse({ choices: [{ delta: {}, finish_reason: 'error' }] })),
  'a stream that ends in an error of the network': stream(
    CHAT_ROLE,
    sse({ choices: [{ delta: {}, finish_reason: 'network_error' }], usage: { prompt_tokens: 9 } }),
    sse('[DONE]'),
  ),
  'a stream with only a usage': stream(sse({ choices: [], usage: { prompt_tokens: 9 } }), sse('[DONE]')),
});
const responses = (message: string): RouteErrors['errors'] => {
  const failed = { object: 'response', status: 'failed', error: { code: 'server_error', message }, output: [] };
  const created = named('response.created', { response: { status: 'in_progress', output: [] } });
  return {
    ...everywhere(message),
    ...inStreams(message, created),
    'a failed response': { body: failed },
    'a failed response with a usage': { body: { ...failed, usage: { input_tokens: 9, output_tokens: 9 } } },
    'a failed response without a reason': { body: { ...failed, error: null } },
    'a failed response by its limit': {
      body: { ...failed, error: { code: 'rate_limit_exceeded', message } },
      status: 429,
    },
    'a long response with an empty message': {
      body: { output: [{ type: 'message', content: [] }], status: 'unknown', instructions: LONG, usage: USED },
    },
    'a response of metadata': { body: { output: [{ type: 'reasoning', id: 'r', summary: [] }], usage: USED } },
    'a response with an empty text': {
      body: { output: [{ type: 'message', content: [{ type: 'output_text', text: '', annotations: [] }] }] },
    },
    'a stream of metadata': stream(
      created,
      named('response.output_text.delta', { item_id: 'i', delta: '', obfuscation: 'x', logprobs: [] }),
      named('response.content_part.done', { part: { type: 'output_text', text: '', annotations: [] } }),
      named('response.output_item.done', { item: { id: 'm', type: 'message', status: 'completed', content: [] } }),
    ),
    'a stream that fails': stream(created, named('response.failed', { response: failed })),
    'a stream that fails without a reason': stream(named('response.failed', { response: { ...failed, error: null } })),
    'a stream with an error event': stream(created, named('error', { code: 'server_error', message, param: null })),
  };
};
const messages = (message: string): RouteErrors['errors'] => {
  const start = named('message_start', { message: { content: [], usage: { input_tokens: 9, output_tokens: 1 } } });
  const block = named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
  return {
    ...everywhere(message),
    ...inStreams(message, start),
    'an error in its envelope': { body: { type: 'error', error: { type: 'overloaded_error', message } }, status: 503 },
    'no content': { body: { type: 'message', content: [], stop_reason: null } },
    'a stream with an error event': {
      ...stream(start, named('ping', {}), block, named('error', { error: { type: 'api_error', message } })),
    },
    'an answer that ends in an error': {
      body: { type: 'message', content: [], stop_reason: 'error', usage: { input_tokens: 9 } },
    },
    'a stream that ends in an error': stream(
      start,
      named('message_delta', { delta: { stop_reason: 'error' }, usage: { output_tokens: 9 } }),
      named('message_stop', {}),
    ),
    'a long answer without content': { body: { type: 'message', content: [{}], padding: LONG, usage: USED } },
    'a stream of a beginning and pings': stream(start, named('ping', {}), block),
  };
};
const content = (message: string): RouteErrors['errors'] => ({
  ...everywhere(message),
  'an error with its status': { body: { error: { code: 500, status: 'INTERNAL', message } }, status: 500 },
  'no candidates': { body: { candidates: [], usageMetadata: { promptTokenCount: 9 } } },
  'a candidate that ends in an error': {
    body: { candidates: [{ content: {}, finishReason: 'ERROR' }], usageMetadata: { promptTokenCount: 9 } },
  },
  'a candidate of metadata': {
    body: { candidates: [{ content: { parts: [{ thought: true, thoughtSignature: 'x' }] } }] },
  },
  'only a usage': { body: { usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } } },
  'a candidate without a part or a reason': { body: { candidates: [{ content: { parts: [{ text: '' }] } }] } },
});
const contentStream = (message: string): RouteErrors['errors'] => ({
  ...content(message),
  ...inStreams(message, sse({ usageMetadata: { promptTokenCount: 9 } })),
  'a list with an error': { body: [{ error: { code: 503, message } }], status: 503, streams: true },
  'an empty list': { body: [], streams: true },
  'a list of nothing': { body: [{ usageMetadata: { promptTokenCount: 9 } }], streams: true },
});
const images = (message: string): RouteErrors['errors'] => ({
  ...everywhere(message),
  ...inStreams(message, named('image_generation.started', {})),
  'no images': { body: { created: 1, data: [] } },
  'images without a picture': { body: { data: [{ url: '' }, { revised_prompt: 'x' }, { b64_json: null }] } },
});
const sound = (message: string): RouteErrors['errors'] => ({
  ...everywhere(message),
  ...inStreams(message, named('speech.audio.started', {})),
  'no sound': { type: 'audio/mpeg', body: '' },
  'an error as sound': { type: 'audio/mpeg', body: { error: { message } } },
  words: { type: 'text/plain; charset=utf-8', body: `the voice is away: ${message}` },
  'words as sound': { type: 'audio/mpeg', body: 'Internal Server Error' },
  'words of another language as sound': {
    type: 'application/octet-stream',
    body: '服务器内部错误，请稍后再试。'.repeat(9),
  },
  'XML as sound': { type: 'audio/mpeg', body: `<Fault><Code>x</Code><Message>${message}</Message></Fault>` },
  'an error behind a byte order mark as sound': {
    type: 'audio/mpeg',
    body: `${BYTE_ORDER_MARK}${JSON.stringify({ error: { message } })}`,
  },
  'events as sound': { type: 'audio/mpeg', body: sse({ error: { message } }) },
  'an object without sound': { body: { data: { status: 1 }, audio: {} } },
  'an object as sound': { type: 'audio/mpeg', body: { code: 1, msg: message } },
});
const text = (message: string): RouteErrors['errors'] => ({
  ...everywhere(message),
  ...inStreams(message, named('transcript.started', {})),
  'no text': { body: { text: null } },
  'an error as text': { type: 'text/plain', body: { error: { message } } },
  'XML as text': { type: 'text/plain', body: `<?xml version="1.0"?><Error><Message>${message}</Message></Error>` },
  'events as text': { type: 'text/plain', body: sse({ error: { message } }) },
});

const PLAIN = { model: 'some-model', input: 'hello there', prompt: 'hello', max_tokens: 9, messages: [], contents: [] };
const asks =
  (more: object = {}, streaming: object = { stream: true }): RouteErrors['request'] =>
  ({ streams }) => ({ ...PLAIN, ...more, ...(streams === true ? streaming : {}) });

/** The errors of every route; `message` is in those that have a text. */
export const listRouteErrors = (message: string): Readonly<Record<string, RouteErrors>> => ({
  '/v1/chat/completions': { request: asks(), errors: chat(message) },
  '/v1/responses': { request: asks(), errors: responses(message) },
  '/v1/messages': { request: asks(), errors: messages(message) },
  '/v1/messages/count_tokens': {
    request: asks(),
    errors: { ...everywhere(message), 'no count': { body: { input_tokens: null } } },
  },
  '/v1beta/models/{model}:generateContent': { request: asks(), errors: content(message) },
  '/v1/models/{model}:generateContent': { request: asks(), errors: content(message) },
  '/v1beta/models/{model}:streamGenerateContent': { request: asks(), errors: contentStream(message) },
  '/v1/models/{model}:streamGenerateContent': { request: asks(), errors: contentStream(message) },
  '/v1/embeddings': {
    request: asks(),
    errors: {
      ...everywhere(message),
      'no vector in the list': { body: { embeddings: [[]], usage: { total_tokens: 9 } } },
      'many empty vectors': {
        body: { data: Array(300).fill({ object: 'embedding', embedding: null, index: 0 }), usage: USED },
      },
      'no vectors': { body: { data: [{ embedding: [] }], usage: { total_tokens: 9 } } },
    },
  },
  '/v1/rerank': {
    request: asks({ query: 'x', documents: ['a'] }),
    errors: { ...everywhere(message), 'ranks of nothing': { body: { results: [{}], usage: { total_tokens: 9 } } } },
  },
  '/v1/images/generations': { request: asks(), errors: images(message) },
  '/v1/images/edits': { request: asks(), errors: images(message) },
  '/v1/audio/speech': { request: asks({}, { stream_format: 'sse' }), errors: sound(message) },
  '/v1/audio/transcriptions': { request: asks(), errors: text(message) },
  '/v1/audio/translations': { request: asks(), errors: text(message) },
});
