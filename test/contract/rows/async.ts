import { Form } from '../engine/form.ts';
import { absent, exactly, is, sized } from '../engine/matchers.ts';
import { refused } from '../engine/refused.ts';
import { get, post, sequence, step, table, until } from '../engine/row.ts';
import type { Request, Row } from '../engine/row.ts';
import { UNKNOWN, V1 } from './bodies.ts';
import { SAID, chat, messages, contents, CHAT, GENERATE, picture, recording } from './relay-bodies.ts';

const ASYNC = 'Asynchronous calls';
const OWN = { needs: ['own program'] } as const;
const queue = (path: string, body: unknown, more: Omit<Request, 'method' | 'path' | 'body'> = {}): Request =>
  post(`/async${path}`, body, more);
const QUEUED = {
  status: 202,
  body: exactly({ id: is.jobId, status: 'queued' }),
  headers: { 'retry-after': /^\d+$/, 'openai-poll-after-ms': /^\d+$/ },
};
const read = get('/get-async?id={{job}}');
const ends = (name: string, path: string, body: unknown, end: object): Row =>
  sequence(ASYNC, name, [step(queue(path, body), QUEUED, { job: 'id' }), until(read, { status: 200, body: end })], OWN);
const asyncs: readonly Row[] = [
  ends(
    'a chat ends with the JSON of its answer',
    CHAT,
    chat(),
    exactly({
      id: is.jobId,
      status: 'completed',
      status_code: 200,
      content_type: /^application\/json/,
      result: { object: 'chat.completion', model: 'solo', choices: [{ message: { content: SAID } }] },
    }),
  ),
  ends('messages', '/v1/messages', messages(), { status: 'completed', result: { type: 'message' } }),
  ends('the count of tokens', '/v1/messages/count_tokens', messages(), {
    status: 'completed',
    result: { input_tokens: is.count },
  }),
  ends(
    'responses',
    '/v1/responses',
    { model: 'solo', input: 'hello' },
    { status: 'completed', result: { object: 'response' } },
  ),
  ends('generateContent', GENERATE, contents(), { status: 'completed', result: { candidates: sized(1) } }),
  ends('generateContent below /v1', '/v1/models/gemini:generateContent', contents(), {
    status: 'completed',
    result: { candidates: sized(1) },
  }),
  ends(
    'embeddings',
    '/v1/embeddings',
    { model: 'solo', input: 'x' },
    { status: 'completed', result: { object: 'list' } },
  ),
  ends(
    'rerank',
    '/v1/rerank',
    { model: 'solo', query: 'x', documents: ['a'] },
    { status: 'completed', result: { results: sized(1) } },
  ),
  ends(
    'images',
    '/v1/images/generations',
    { model: 'solo', prompt: 'x' },
    { status: 'completed', result: { data: sized(1) } },
  ),
  ends('image edits by a form', '/v1/images/edits', new Form(['model', 'solo'], ['prompt', 'x'], ['image', picture]), {
    status: 'completed',
    result: { data: sized(1) },
  }),
  ends('transcriptions by a form', '/v1/audio/transcriptions', new Form(['model', 'solo'], ['file', recording]), {
    status: 'completed',
    result: { text: SAID },
  }),
  ends('translations by a form', '/v1/audio/translations', new Form(['model', 'solo'], ['file', recording]), {
    status: 'completed',
    result: { text: SAID },
  }),
  ends(
    'text is a text',
    '/v1/audio/transcriptions',
    new Form(['model', 'solo'], ['file', recording], ['response_format', 'text']),
    { status: 'completed', result: `${SAID}\n`, encoding: absent },
  ),
  ends(
    'speech is base64',
    '/v1/audio/speech',
    { model: 'solo', input: 'x', voice: 'alloy' },
    { status: 'completed', content_type: 'audio/mpeg', encoding: 'base64', result: /^[A-Za-z0-9+/]+=*$/ },
  ),
  ends('a refusal of the upstream has failed, with its status and body', CHAT, chat({}, '[status:400] hello'), {
    status: 'failed',
    status_code: 400,
    result: { error: is.object },
    error: exactly({ code: is.text, message: is.text }),
  }),
  ends('a cut connection has failed', CHAT, chat({ model: 'same' }, '[reset] hello'), {
    status: 'failed',
    status_code: 502,
    error: { code: is.text },
  }),
  sequence(
    ASYNC,
    'a running call says when to read it again',
    [
      step(queue(CHAT, chat({ model: 'same' }, '[slow:3000] hello')), QUEUED, { job: 'id' }),
      step(read, {
        status: 200,
        body: { id: '{{job}}', status: /^(queued|in_progress)$/, result: absent },
        headers: { 'retry-after': /^\d+$/ },
      }),
      step(get('/get-async?id={{job}}', { headers: { prefer: 'wait=20' } }), {
        status: 200,
        body: { status: /^(in_progress|completed)$/ },
        headers: { 'preference-applied': 'wait=20' },
      }),
      until(read, { status: 200, body: { status: 'completed' } }),
    ],
    OWN,
  ),
  sequence(
    ASYNC,
    'the same Idempotency-Key and body give the same call',
    [
      step(
        queue(CHAT, chat(), { headers: { 'idempotency-key': 'contract-async-1' } }),
        { ...QUEUED, headers: { 'idempotent-replayed': absent } },
        { job: 'id' },
      ),
      step(queue(CHAT, chat(), { headers: { 'idempotency-key': 'contract-async-1' } }), {
        status: 202,
        body: { id: '{{job}}' },
        headers: { 'idempotent-replayed': 'true' },
      }),
      step(
        queue(CHAT, chat({}, 'another'), { headers: { 'idempotency-key': 'contract-async-1' } }),
        refused('idempotency_key_reused'),
      ),
    ],
    OWN,
  ),
  sequence(
    ASYNC,
    'a call of another account is unknown',
    [
      step(queue(CHAT, chat()), QUEUED, { job: 'id' }),
      step(get('/get-async?id={{job}}', { as: 'other' }), refused('task_not_found')),
      step(get(`${V1}/{{job}}`), refused('task_not_found')),
    ],
    OWN,
  ),
  sequence(
    ASYNC,
    'a call is charged once, as the synchronous one is',
    [
      step(queue(CHAT, chat(), { as: 'money async' }), QUEUED, { job: 'id' }),
      until(get('/get-async?id={{job}}', { as: 'money async' }), { status: 200, body: { status: 'completed' } }),
      until(get('/v1/usage', { as: 'money async' }), {
        status: 200,
        body: { total: { amount: '0.025', requests: 1 } },
      }),
    ],
    OWN,
  ),
  ...table(ASYNC, [
    ['a read without an id is refused', get('/get-async'), refused('invalid_request', 'id')],
    ['an unknown id is 404', get('/get-async?id=job_00000000000000000000000000'), refused('task_not_found')],
    ['the id of a video task is 404', get(`/get-async?id=${UNKNOWN}`), refused('task_not_found')],
    ['a path that is not a synchronous route is 404', queue('/v1/nowhere', {}), refused('not_found')],
    ['a video create is not a synchronous route', queue(V1, {}), refused('not_found')],
    ['realtime cannot be called asynchronously', queue('/v1/realtime', {}), refused('not_found')],
    ['an unknown model is 404', queue(CHAT, chat({ model: 'No-Such-Model' })), refused('model_not_found', 'model')],
    ['a body without a model is refused', queue(CHAT, { messages: [] }), refused('missing_model', 'model')],
    ['a body that is not JSON is refused', queue(CHAT, '{'), refused('invalid_json')],
    ['a stream is refused', queue(CHAT, chat({ stream: true })), refused('invalid_request', 'stream')],
    [
      'a stream by its path is refused',
      queue('/v1beta/models/gemini:streamGenerateContent', contents()),
      { status: 400 },
    ],
    [
      'a stream by its path below /v1 is refused',
      queue('/v1/models/gemini:streamGenerateContent', contents()),
      { status: 400 },
    ],
    [
      'a bad Idempotency-Key is refused',
      queue(CHAT, chat(), { headers: { 'idempotency-key': 'a b' } }),
      refused('invalid_idempotency_key', 'Idempotency-Key'),
    ],
  ]),
];

export const asyncRows: readonly Row[] = asyncs;
