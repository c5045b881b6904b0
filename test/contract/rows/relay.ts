import { Form } from '../engine/form.ts';
import { Described, containing, is, sized } from '../engine/matchers.ts';
import { refused } from '../engine/refused.ts';
import { get, post, sequence, table } from '../engine/row.ts';
import type { Check, Row } from '../engine/row.ts';
import { SAID, chat, messages, contents, CHAT, GENERATE, STREAM, picture, recording, SSE } from './relay-bodies.ts';

const SECTION = 'Synchronous routes';
const REALTIME = 'Realtime';
const OWN = { needs: ['own program'] } as const;
const routes = table(
  SECTION,
  [
    [
      'chat completions as JSON',
      post(CHAT, chat()),
      {
        status: 200,
        body: {
          object: 'chat.completion',
          model: 'solo',
          choices: [{ message: { content: SAID } }],
          usage: { prompt_tokens: 11, completion_tokens: 7 },
        },
      },
    ],
    [
      'chat completions as a stream',
      post(CHAT, chat({ stream: true })),
      { status: 200, headers: SSE, text: /^data: \{[^]*"solo"[^]*data: \[DONE\]\n\n$/ },
    ],
    [
      'a stream has no usage without a request for it',
      post(CHAT, chat({ stream: true })),
      { status: 200, text: new Described('no usage', (text) => !String(text).includes('"prompt_tokens"')) },
    ],
    [
      'a stream has usage on request',
      post(CHAT, chat({ stream: true, stream_options: { include_usage: true } })),
      { status: 200, text: containing('"prompt_tokens":11') },
    ],
    [
      'responses as JSON',
      post('/v1/responses', { model: 'solo', input: 'hello' }),
      {
        status: 200,
        body: {
          object: 'response',
          status: 'completed',
          model: 'solo',
          output: [{ content: [{ type: 'output_text', text: SAID }] }],
        },
      },
    ],
    [
      'responses as a stream',
      post('/v1/responses', { model: 'solo', input: 'hello', stream: true }),
      { status: 200, headers: SSE, text: containing('event: response.completed') },
    ],
    [
      'messages as JSON',
      post('/v1/messages', messages()),
      { status: 200, body: { type: 'message', model: 'claude', content: [{ type: 'text', text: SAID }] } },
    ],
    [
      'messages as a stream',
      post('/v1/messages', messages({ stream: true })),
      { status: 200, headers: SSE, text: containing('event: message_stop') },
    ],
    [
      'the tokens of messages are counted',
      post('/v1/messages/count_tokens', messages()),
      { status: 200, body: { input_tokens: is.count } },
    ],
    [
      'generateContent as JSON',
      post(GENERATE, contents()),
      { status: 200, body: { candidates: [{ content: { parts: [{ text: SAID }] } }] } },
    ],
    ['generateContent as a stream', post(STREAM, contents()), { status: 200, headers: SSE, text: /^data: \{/ }],
    [
      'generateContent below /v1',
      post('/v1/models/gemini:generateContent', contents()),
      { status: 200, body: { candidates: sized(1) } },
    ],
    [
      'generateContent as a stream below /v1',
      post('/v1/models/gemini:streamGenerateContent?alt=sse', contents()),
      { status: 200, headers: SSE, text: /^data: \{/ },
    ],
    [
      'embeddings as numbers',
      post('/v1/embeddings', { model: 'solo', input: ['a', 'b'] }),
      { status: 200, body: { object: 'list', data: [{ embedding: [0.25, -0.5, 1] }, { index: 1 }] } },
    ],
    [
      'embeddings as base64',
      post('/v1/embeddings', { model: 'solo', input: 'a', encoding_format: 'base64' }),
      { status: 200, body: { data: [{ embedding: 'AACAPgAAAL8AAIA/' }] } },
    ],
    [
      'rerank',
      post('/v1/rerank', { model: 'solo', query: 'x', documents: ['a', 'b'] }),
      { status: 200, body: { results: [{ index: 1 }, { index: 0 }] } },
    ],
    [
      'images as base64',
      post('/v1/images/generations', { model: 'solo', prompt: 'a boat', n: 2 }),
      { status: 200, body: { data: [{ b64_json: is.text }, { b64_json: is.text }] } },
    ],
    [
      'images as URLs',
      post('/v1/images/generations', { model: 'solo', prompt: 'a boat', response_format: 'url' }),
      { status: 200, body: { data: [{ url: is.text }] } },
    ],
    [
      'image edits by a form',
      post('/v1/images/edits', new Form(['model', 'solo'], ['prompt', 'a boat'], ['image', picture])),
      { status: 200, body: { data: [{ b64_json: is.text }] } },
    ],
    [
      'speech as bytes',
      post('/v1/audio/speech', { model: 'solo', input: 'hello', voice: 'alloy' }),
      {
        status: 200,
        headers: { 'content-type': 'audio/mpeg' },
        bytes: new Described('5000 bytes', (bytes) => Buffer.isBuffer(bytes) && bytes.length === 5000),
      },
    ],
    [
      'transcriptions by a form',
      post('/v1/audio/transcriptions', new Form(['model', 'solo'], ['file', recording])),
      { status: 200, body: { text: SAID } },
    ],
    [
      'transcriptions as text',
      post('/v1/audio/transcriptions', new Form(['model', 'solo'], ['file', recording], ['response_format', 'text'])),
      { status: 200, headers: { 'content-type': /^text\/plain/ }, text: `${SAID}\n` },
    ],
    [
      'translations by a form',
      post('/v1/audio/translations', new Form(['model', 'solo'], ['file', recording])),
      { status: 200, body: { text: SAID } },
    ],
    ['a query goes on to the upstream', post(`${CHAT}?api-version=1`, chat()), { status: 200 }],
    [
      'the second channel gets a call that the first one refuses',
      post(CHAT, chat({ model: 'twice' }, 'hello [main/status:500]')),
      { status: 200, body: { model: 'twice', choices: [{ message: { content: SAID } }] } },
    ],
    [
      'the second channel gets a call if the first one cannot be reached',
      post(CHAT, chat({ model: 'reached' })),
      { status: 200, body: { model: 'reached' } },
    ],
  ],
  OWN,
);

const google = (code: number, status: string): object => ({ error: { code, status } });
const refusals = table(SECTION, [
  ['an unknown model is 404', post(CHAT, chat({ model: 'No-Such-Model' })), refused('model_not_found', 'model')],
  [
    "an unknown model of messages is 404 in Anthropic's envelope",
    post('/v1/messages', messages({ model: 'No-Such-Model' })),
    { status: 404, body: { type: 'error', error: { type: 'not_found_error' } } },
  ],
  [
    "an unknown model of generateContent is 404 in Google's envelope",
    post('/v1beta/models/No-Such-Model:generateContent', contents()),
    { status: 404, body: google(404, 'NOT_FOUND') },
  ],
  [
    'an unknown model is refused before a stream begins',
    post(CHAT, chat({ model: 'No-Such-Model', stream: true })),
    refused('model_not_found', 'model'),
  ],
  ['a body without a model is refused', post(CHAT, { messages: [] }), refused('missing_model', 'model')],
  ['a model that is not text is refused', post(CHAT, chat({ model: 7 })), refused('missing_model', 'model')],
  ['a body that is not JSON is refused', post(CHAT, '{"model":'), refused('invalid_json')],
  [
    "a body that is not JSON is refused in Anthropic's envelope",
    post('/v1/messages', '{'),
    { status: 400, body: { type: 'error', error: { type: 'invalid_request_error' } } },
  ],
  [
    "a body that is not JSON is refused in Google's envelope",
    post(GENERATE, '{'),
    { status: 400, body: google(400, 'INVALID_ARGUMENT') },
  ],
  ['a body that is a list is refused', post(CHAT, []), refused('invalid_request')],
  [
    'a body of another type is refused',
    post(CHAT, 'model=solo', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
    refused('unsupported_media_type'),
  ],
  ['chat takes no form', post(CHAT, new Form(['model', 'solo'])), refused('unsupported_media_type')],
  [
    'a form without a model is refused',
    post('/v1/audio/transcriptions', new Form(['file', recording])),
    refused('missing_model', 'model'),
  ],
  ['GET of a synchronous route is 405', get(CHAT), refused('method_not_allowed', undefined, { allow: 'POST' })],
]);
const upstream = table(
  SECTION,
  [
    [
      'a model whose channels have no such endpoint is 404',
      post('/v1/embeddings', { model: 'chat-only', input: 'x' }),
      refused('model_not_found', 'model'),
    ],
    [
      'a model whose only channel is switched off is 404',
      post(CHAT, chat({ model: 'switched-off' })),
      refused('model_not_found', 'model'),
    ],
    [
      'a refusal of the upstream comes back with its status',
      post(CHAT, chat({}, '[status:400] hello')),
      { status: 400, body: { error: { message: is.text } } },
    ],
    [
      'a refusal of the upstream comes back in the envelope of messages',
      post('/v1/messages', messages({}, '[status:400] hello')),
      { status: 400, body: { type: 'error', error: { type: is.text, message: is.text } } },
    ],
    [
      'a cut connection is 502, which no SDK repeats',
      post(CHAT, chat({ model: 'same' }, '[reset] hello')),
      refused('upstream_failed', undefined, { 'x-should-retry': 'false' }),
    ],
    [
      'an account without money is refused',
      post(CHAT, chat({}, 'hello'), { as: 'poor' }),
      refused('insufficient_quota'),
    ],
    [
      'a stream that breaks off ends in the words of its clients',
      post(CHAT, chat({ model: 'same', stream: true }, '[die:3] hello')),
      { status: 200, headers: SSE, text: containing('"error"') },
    ],
    [
      'a stream of messages that breaks off ends in the words of its clients',
      post('/v1/messages', messages({ stream: true }, '[die:5] hello')),
      { status: 200, text: containing('event: error') },
    ],
  ],
  OWN,
);

const dial =
  (model: string, secret = 'main'): Check =>
  async ({ base, token }) => {
    const key = secret === 'main' ? token('main') : secret;
    const socket = new WebSocket(`${base.replace('http', 'ws')}/v1/realtime?model=${model}`, [
      'realtime',
      `openai-insecure-api-key.${key ?? ''}`,
    ]);
    const first = await new Promise<string | undefined>((resolve) => {
      socket.addEventListener(
        'message',
        ({ data }) => {
          resolve(String(data));
        },
        { once: true },
      );
      socket.addEventListener(
        'error',
        () => {
          resolve(undefined);
        },
        { once: true },
      );
    });
    socket.close();
    if (secret !== 'main' || model !== 'solo') return first === undefined ? undefined : `a session began: ${first}`;
    return first?.includes('session.created') === true && first.includes('"solo"')
      ? undefined
      : `the first event is ${String(first)}`;
  };
const realtime: readonly Row[] = [
  ...table(REALTIME, [
    [
      'a request without an upgrade is 426',
      get('/v1/realtime?model=solo'),
      { status: 426, body: { error: { code: 'upgrade_required' } }, headers: { upgrade: /websocket/i } },
    ],
  ]),
  sequence(REALTIME, 'a session begins, with the model under its public name', [dial('solo')], OWN),
  sequence(REALTIME, 'an unknown token opens no session', [dial('solo', 'sk-unknown-0123456789')], OWN),
  sequence(REALTIME, 'an unknown model opens no session', [dial('No-Such-Model')], OWN),
  sequence(REALTIME, 'a model without a price opens no session', [dial('unpriced')], OWN),
];

export const relayRows: readonly Row[] = [...routes, ...refusals, ...upstream, ...realtime];
