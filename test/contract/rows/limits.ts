import { absent, containing, exactly, is } from '../engine/matchers.ts';
import { refused, refusedV2 } from '../engine/refused.ts';
import { get, post, sequence, step, table, until } from '../engine/row.ts';
import type { Row } from '../engine/row.ts';
import { CONTEXT_IR, GENERATION, V1, compat, generation } from './bodies.ts';

const LIMITS = 'Limits';
const MODELS = 'Models';
const OWN = { needs: ['own program'] } as const;

const slow = { as: 'slow' } as const;
const again = { 'retry-after': /^[1-9]\d*$/ };
const limits: readonly Row[] = [
  sequence(
    LIMITS,
    'creates over the rate of a token are 429 with a time to wait; reads have a rate of their own',
    [
      step(post(V1, {}, slow), { status: 400, headers: { 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' } }),
      step(post(GENERATION, {}, slow), { status: 400, headers: { 'x-ratelimit-remaining': '0' } }),
      step(post(V1, {}, slow), refused('rate_limit_exceeded', undefined, again)),
      step(post(CONTEXT_IR, {}, slow), refusedV2('rate_limit_exceeded', undefined, again)),
      step(get(V1, slow), { status: 200, headers: { 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '4' } }),
      step(get(V1, slow), { status: 200 }),
      step(get('/v1/models', slow), { status: 200 }),
      step(get('/v1/usage', slow), { status: 200 }),
      step(get(V1, slow), { status: 200, headers: { 'x-ratelimit-remaining': '0' } }),
      step(get(V1, slow), refused('rate_limit_exceeded', undefined, again)),
      step(get('/v2/query/video_generation', slow), refusedV2('rate_limit_exceeded', undefined, again)),
    ],
    OWN,
  ),
  sequence(
    LIMITS,
    'calls of the synchronous routes have a rate of their own',
    [
      step(post('/v1/chat/completions', {}, slow), { status: 400 }),
      step(post('/v1/embeddings', {}, slow), { status: 400 }),
      step(post('/v1/messages', {}, slow), {
        status: 429,
        headers: again,
        body: { type: 'error', error: { type: 'rate_limit_error' } },
      }),
      step(post('/async/v1/chat/completions', {}, slow), refused('rate_limit_exceeded', undefined, again)),
    ],
    OWN,
  ),
  sequence(
    LIMITS,
    'a token has at most its limit of tasks in flight, and an ended task makes room',
    [
      step(
        post(GENERATION, generation({}, '[queue:1h] a red boat'), { as: 'one task' }),
        { status: 200 },
        { task: 'task_id' },
      ),
      step(post(V1, compat(), { as: 'one task' }), refused('too_many_tasks', undefined, again)),
      step(post(GENERATION, generation(), { as: 'one task' }), refusedV2('too_many_tasks', undefined, again)),
      until(post(`${V1}/{{task}}/cancel`, undefined, { as: 'one task' }), { status: 200 }),
      until(post(V1, compat(), { as: 'one task' }), { status: 200 }),
    ],
    OWN,
  ),
  sequence(
    LIMITS,
    'a token spends no more than its limit',
    [
      step(post(V1, compat(), { as: 'limited' }), { status: 200 }),
      step(
        post(V1, compat(), { as: 'limited' }),
        refused('insufficient_quota', undefined, { 'x-should-retry': 'false', 'retry-after': absent }),
      ),
    ],
    OWN,
  ),
  ...table(
    LIMITS,
    [
      [
        'a balance that does not cover the hold is 429, which no SDK repeats',
        post(V1, compat(), { as: 'poor' }),
        refused('insufficient_quota', undefined, { 'x-should-retry': 'false', 'retry-after': absent }),
      ],
      [
        'a balance that does not cover the hold is 429 on /v2',
        post(GENERATION, generation(), { as: 'poor' }),
        refusedV2('insufficient_quota', undefined, { 'x-should-retry': 'false' }),
      ],
      [
        'a refused create leaves no task',
        get(V1, { as: 'poor' }),
        { status: 200, body: { data: [], first_id: null, last_id: null, has_more: false } },
      ],
    ],
    OWN,
  ),
];

const listed = { id: 'Alpha-H3', object: 'model', created: is.natural, owned_by: is.text };
const models: readonly Row[] = [
  ...table(MODELS, [
    [
      'GET /v1/models lists what the token sees',
      get('/v1/models'),
      { status: 200, body: exactly({ object: 'list', data: is.list }), text: containing('"Alpha-H3"') },
    ],
    ['GET /v1/models/{model} is one of them', get('/v1/models/Alpha-H3'), { status: 200, body: exactly(listed) }],
    ['an unknown model is 404', get('/v1/models/No-Such-Model'), refused('model_not_found', 'model')],
    ['a model by the name of its upstream is 404', get('/v1/models/MiniMax-H3'), refused('model_not_found', 'model')],
    [
      "Anthropic's clients read their own shape",
      get('/v1/models', { headers: { 'anthropic-version': '2026-10-21' } }),
      { status: 200, body: { data: is.list, has_more: false, first_id: is.text, last_id: is.text } },
    ],
    [
      "Anthropic's clients are refused in their own shape",
      get('/v1/models/No-Such-Model', { headers: { 'anthropic-version': '2026-10-21' } }),
      { status: 404, body: { type: 'error', error: { type: 'not_found_error' } } },
    ],
    ["Google's list is in its own shape", get('/v1beta/models'), { status: 200, body: exactly({ models: is.list }) }],
    [
      "Google's refusal is in its own shape",
      get('/v1beta/models/No-Such-Model'),
      { status: 404, body: { error: { code: 404, status: 'NOT_FOUND' } } },
    ],
  ]),
  ...table(
    MODELS,
    [
      [
        'a token sees only its own models',
        get('/v1/models', { as: 'narrow' }),
        { status: 200, body: { data: [{ id: 'Beta-V1' }, { id: 'solo' }] } },
      ],
      [
        'a model that the token does not see is 404',
        get('/v1/models/Alpha-H3', { as: 'narrow' }),
        refused('model_not_found', 'model'),
      ],
      [
        'a model whose only channel is switched off is 404',
        get('/v1/models/Delta-Off'),
        refused('model_not_found', 'model'),
      ],
      [
        'a create with a model whose only channel is switched off is 404',
        post(V1, compat({ model: 'Delta-Off' })),
        refused('model_not_found', 'model'),
      ],
      [
        'a create with a model whose channel adapts no such endpoint is 404',
        post(V1, compat({ model: 'solo' })),
        refused('model_not_found', 'model'),
      ],
      [
        'a chat with a video model is 404',
        post('/v1/chat/completions', { model: 'Alpha-H3', messages: [] }),
        refused('model_not_found', 'model'),
      ],
      [
        'a create whose channels are away is 503 with a time to wait',
        post(V1, compat({ model: 'Gamma-Away' })),
        refused('no_channel_available', undefined, again),
      ],
      [
        'a create whose channels are away is 503 on /v2',
        post(GENERATION, generation({ model: 'Gamma-Away' })),
        refusedV2('no_channel_available', undefined, again),
      ],
      [
        "Google's list holds what generates content",
        get('/v1beta/models/gemini'),
        { status: 200, body: { name: 'models/gemini', supportedGenerationMethods: is.list } },
      ],
      ["Google's list holds nothing else", get('/v1beta/models/Alpha-H3'), { status: 404 }],
    ],
    OWN,
  ),
];

export const limitRows: readonly Row[] = [...limits, ...models];
