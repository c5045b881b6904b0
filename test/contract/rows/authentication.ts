import { get, post, sequence, step, table, until } from '../engine/row.ts';
import type { Request, Row } from '../engine/row.ts';
import { refused, refusedV2 } from '../engine/refused.ts';
import { is } from '../engine/matchers.ts';
import {
  CONTEXT_IR,
  GENERATION,
  GENERATIONS,
  QUERY,
  REGENERATION,
  UNKNOWN,
  V1,
  byTask,
  compat,
  contextIr,
  generation,
  generations,
} from './bodies.ts';
import { createToken } from '../../harness/records.ts';

const SECTION = 'Authentication';
const NO_TOKEN = { as: 'no token' } as const;
const OWN = { needs: ['own program'] } as const;

/** Every route that asks for a token, in the envelope of its path. */
const V1_ROUTES: readonly Request[] = [
  post(V1, compat()),
  get(V1),
  get(`${V1}/${UNKNOWN}`),
  get(`${V1}/${UNKNOWN}/content`),
  post(`${V1}/${UNKNOWN}/remix`, { model: 'Alpha-H3', resolution: '2K' }),
  post(`${V1}/${UNKNOWN}/cancel`),
  { method: 'DELETE', path: `${V1}/${UNKNOWN}` },
  post(`${V1}/estimate`, compat()),
  post(GENERATIONS, generations()),
  get(`${GENERATIONS}/${UNKNOWN}`),
  get('/v1/models'),
  get('/v1/models/Alpha-H3'),
  get('/v1/usage'),
  post('/v1/chat/completions', { model: 'solo', messages: [] }),
  post('/v1/responses', { model: 'solo', input: 'x' }),
  post('/v1/embeddings', { model: 'solo', input: 'x' }),
  post('/v1/rerank', { model: 'solo', query: 'x', documents: [] }),
  post('/v1/images/generations', { model: 'solo', prompt: 'x' }),
  post('/v1/images/edits', { model: 'solo', prompt: 'x' }),
  post('/v1/audio/speech', { model: 'solo', input: 'x' }),
  post('/v1/audio/transcriptions', { model: 'solo' }),
  post('/v1/audio/translations', { model: 'solo' }),
  post('/async/v1/chat/completions', { model: 'solo', messages: [] }),
  get('/get-async?id=job_x'),
  get('/v1/files'),
];
const V2_ROUTES: readonly Request[] = [
  post(GENERATION, generation()),
  post(REGENERATION, byTask()),
  post(CONTEXT_IR, contextIr()),
  get(`${QUERY}/${UNKNOWN}`),
  get(QUERY),
  { method: 'DELETE', path: `${GENERATION}/${UNKNOWN}` },
];
const OTHER_ENVELOPES: readonly (readonly [Request, object])[] = [
  [post('/v1/messages', {}), { type: 'error', error: { type: 'authentication_error' } }],
  [post('/v1/messages/count_tokens', {}), { type: 'error', error: { type: 'authentication_error' } }],
  [post('/v1beta/models/gemini:generateContent', {}), { error: { code: 401, status: 'UNAUTHENTICATED' } }],
  [get('/v1beta/models'), { error: { code: 401, status: 'UNAUTHENTICATED' } }],
];

const without = (request: Request): Request => ({ ...request, ...NO_TOKEN });
const named = ({ method, path }: Request): string => `${method} ${path.replace(UNKNOWN, '{task_id}')}`;

const required = [
  ...table(
    SECTION,
    V1_ROUTES.map((request) => [`${named(request)} asks for a token`, without(request), refused('invalid_api_key')]),
  ),
  ...table(
    SECTION,
    V2_ROUTES.map((request) => [`${named(request)} asks for a token`, without(request), refusedV2('invalid_api_key')]),
  ),
  ...table(
    SECTION,
    OTHER_ENVELOPES.map(([request, body]) => [
      `${named(request)} asks for a token, in the envelope of its clients`,
      without(request),
      { status: 401, body },
    ]),
  ),
];

const withHeader = (authorization: string): Request => get('/v1/models', { ...NO_TOKEN, headers: { authorization } });
const forms = table(SECTION, [
  ['an unknown token is refused', get('/v1/models', { as: 'an unknown token' }), refused('invalid_api_key')],
  [
    'an unknown token is refused on /v2',
    post(GENERATION, generation(), { as: 'an unknown token' }),
    refusedV2('invalid_api_key'),
  ],
  ['a scheme other than Bearer is refused', withHeader('Basic c2s6eA=='), refused('invalid_api_key')],
  ['an empty bearer token is refused', withHeader('Bearer '), refused('invalid_api_key')],
  ['a token without its scheme is refused', withHeader('sk-unknown-0123456789'), refused('invalid_api_key')],
  ['a token of control characters is refused', withHeader('Bearer \u00e9\u00e8'), refused('invalid_api_key')],
  [
    'a refusal of the token names the scheme that would be right',
    get('/v1/models', NO_TOKEN),
    { status: 401, headers: { 'www-authenticate': 'Bearer' } },
  ],
  [
    'the token is checked before the body: a body that is not JSON is 401',
    post(V1, '{"model":', NO_TOKEN),
    refused('invalid_api_key'),
  ],
  [
    'the method is checked before the token: an unknown method is 405',
    { method: 'PUT', path: V1, ...NO_TOKEN },
    refused('method_not_allowed'),
  ],
]);

const spellings = table(SECTION, [
  [
    'the token may come as x-api-key',
    get('/v1/models', { ...NO_TOKEN, headers: { 'x-api-key': '{{token}}' } }),
    { status: 200, body: { data: is.list } },
  ],
  [
    'the token may come as x-goog-api-key',
    get('/v1beta/models', { ...NO_TOKEN, headers: { 'x-goog-api-key': '{{token}}' } }),
    { status: 200, body: { models: is.list } },
  ],
  [
    "the token may come as ?key= on Google's routes",
    get('/v1beta/models?key={{token}}', NO_TOKEN),
    { status: 200, body: { models: is.list } },
  ],
  [
    'the scheme is read in any case',
    get('/v1/models', { ...NO_TOKEN, headers: { authorization: 'bearer {{token}}' } }),
    { status: 200 },
  ],
]);

const visibility: readonly Row[] = [
  ...table(
    SECTION,
    [
      ['an expired token is 403', get('/v1/models', { as: 'expired' }), refused('token_disabled')],
      [
        'an expired token is 403 on /v2',
        post(GENERATION, generation(), { as: 'expired' }),
        refusedV2('token_disabled'),
      ],
      [
        'a model that the token does not see is 404',
        post(V1, compat(), { as: 'narrow' }),
        refused('model_not_found', 'model'),
      ],
      [
        'a model that the token does not see is 404 on /v2',
        post(GENERATION, generation(), { as: 'narrow' }),
        refusedV2('model_not_found', 'model'),
      ],
      [
        'a model that the token does not see is 404 for context-IR',
        post(CONTEXT_IR, contextIr(), { as: 'narrow' }),
        refusedV2('model_not_found', 'model'),
      ],
      [
        'a relayed model that the token does not see is 404',
        post('/v1/chat/completions', { model: 'twice', messages: [] }, { as: 'narrow' }),
        refused('model_not_found', 'model'),
      ],
      ['a task of another account is unknown', get(`${V1}/{{other-video}}`), refused('task_not_found')],
      ['a task of another account is unknown on /v2', get(`${QUERY}/{{other-video}}`), refusedV2('task_not_found')],
      [
        'a task of another account is unknown to the flat dialect',
        get(`${GENERATIONS}/{{other-video}}`),
        refused('task_not_found'),
      ],
      [
        'the content of a task of another account is unknown',
        get(`${V1}/{{other-video}}/content`),
        refused('task_not_found'),
      ],
      [
        'a task of another account cannot be deleted',
        { method: 'DELETE', path: `${V1}/{{other-video}}` },
        refused('task_not_found'),
      ],
      [
        'a task of another account cannot be cancelled',
        post(`${V1}/{{other-video}}/cancel`),
        refused('task_not_found'),
      ],
      [
        'a task of another account cannot be cancelled on /v2',
        { method: 'DELETE', path: `${GENERATION}/{{other-video}}` },
        refusedV2('task_not_found'),
      ],
      [
        'a task of another account cannot be a source',
        post(V1, { model: 'Alpha-H3', source_task_id: '{{other-video}}' }),
        refused('task_not_found', 'source_task_id'),
      ],
      [
        'a task of another account cannot be a source on /v2',
        post(REGENERATION, byTask({ source_task_id: '{{other-video}}' })),
        refusedV2('task_not_found', 'source_task_id'),
      ],
      [
        'a task of another account cannot be remixed',
        post(`${V1}/{{other-video}}/remix`, { model: 'Alpha-H3', resolution: '2K' }),
        refused('task_not_found', 'video_id'),
      ],
      [
        'a second token of the account reads its tasks, whatever models it sees',
        get(`${V1}/{{video}}`, { as: 'narrow' }),
        { status: 200, body: { status: 'completed' } },
      ],
    ],
    OWN,
  ),
  sequence(
    SECTION,
    'a task of another account and an unknown one have the same answer',
    [
      step(get(`${V1}/${UNKNOWN}`), refused('task_not_found'), { message: 'error.message' }),
      step(get(`${V1}/{{other-video}}`), { status: 404, body: { error: { message: '{{message}}' } } }),
    ],
    OWN,
  ),
  sequence(
    SECTION,
    'an invisible model and an unknown one have the same answer but for the name',
    [
      step(post(V1, compat({ model: 'No-Such-Model' }), { as: 'narrow' }), refused('model_not_found', 'model')),
      step(post(V1, compat(), { as: 'narrow' }), refused('model_not_found', 'model')),
      step(post(V1, compat({ model: 'Gamma-Away' }), { as: 'narrow' }), refused('model_not_found', 'model')),
    ],
    OWN,
  ),
  sequence(
    SECTION,
    'a revoked token is 403 within seconds',
    [
      async ({ own }, kept) => {
        const { id, key } = await createToken(own!, 'demo', '--name', 'short');
        kept.set('revoked', key).set('revoked-id', id);
        return undefined;
      },
      step(get('/v1/models', { ...NO_TOKEN, headers: { authorization: 'Bearer {{revoked}}' } }), { status: 200 }),
      async ({ own }, kept) => {
        const { code } = await own!.command('token', 'revoke', kept.get('revoked-id') ?? '');
        return code === 0 ? undefined : `token revoke ended with ${code}`;
      },
      until(
        get('/v1/models', { ...NO_TOKEN, headers: { authorization: 'Bearer {{revoked}}' } }),
        refused('token_disabled'),
      ),
    ],
    OWN,
  ),
];

export const authenticationRows: readonly Row[] = [...required, ...forms, ...spellings, ...visibility];
