import { absent, is, mismatch } from '../engine/matchers.ts';
import { refused, refusedV2 } from '../engine/refused.ts';
import { del, get, head, post, sequence, step, table, until } from '../engine/row.ts';
import type { Check, Request, Row } from '../engine/row.ts';
import { send } from '../engine/run-row.ts';
import {
  CONTEXT_IR,
  GENERATION,
  GENERATIONS,
  REGENERATION,
  UNKNOWN,
  V1,
  byTask,
  compat,
  contextIr,
  generation,
  generations,
} from './bodies.ts';

const BODIES = 'Bodies';
const ROUTES = 'Routes';
const KEYS = 'Idempotency';
const REFUSED = { as: 'refusals' } as const;
const SANDBOX = { needs: ['sandbox'] } as const;

/** The creates with a valid body, and the refusal of each. */
const CREATES: readonly (readonly [path: string, body: object, refuse: typeof refusedV2])[] = [
  [V1, compat(), refused],
  [GENERATIONS, generations(), refused],
  [GENERATION, generation(), refusedV2],
  [REGENERATION, byTask(), refusedV2],
  [CONTEXT_IR, contextIr(), refusedV2],
  [`${V1}/${UNKNOWN}/remix`, { model: 'Alpha-H3', resolution: '2K' }, refused],
];
const name = (path: string): string => path.replace(UNKNOWN, '{video_id}');
const bodies = CREATES.flatMap(([path, body, refuse]) => {
  const typed = (type: string, content: unknown = JSON.stringify(body)): Request =>
    post(path, content, { ...REFUSED, headers: { 'content-type': type } });
  return table(BODIES, [
    [`${name(path)} refuses what is no JSON`, post(path, '{"model":', REFUSED), refuse('invalid_json')],
    [`${name(path)} refuses an empty body`, post(path, '', REFUSED), refuse('invalid_json')],
    [`${name(path)} refuses a list`, post(path, [], REFUSED), refuse('invalid_request')],
    [`${name(path)} refuses a text`, post(path, '"Alpha-H3"', REFUSED), refuse('invalid_request')],
    [`${name(path)} refuses null`, post(path, 'null', REFUSED), refuse('invalid_request')],
    [`${name(path)} refuses an empty object`, post(path, {}, REFUSED), { status: 400 }],
    [`${name(path)} refuses a body of text/plain`, typed('text/plain'), refuse('unsupported_media_type')],
    [
      `${name(path)} refuses a url-encoded form`,
      typed('application/x-www-form-urlencoded', 'model=Alpha-H3'),
      refuse('unsupported_media_type'),
    ],
    [
      `${name(path)} refuses a body in an unknown encoding`,
      post(path, body, { ...REFUSED, headers: { 'content-encoding': 'compress' } }),
      refuse('unsupported_content_encoding'),
    ],
    [
      `${name(path)} refuses a body over 64 MiB before it is sent`,
      post(path, undefined, {
        ...REFUSED,
        headers: { 'content-type': 'application/json', 'content-length': String(64 * 1024 * 1024 + 1) },
      }),
      refuse('body_too_large'),
    ],
    [
      `${name(path)} refuses a body over 64 MiB that waits for 100-continue`,
      post(path, undefined, {
        ...REFUSED,
        headers: {
          'content-type': 'application/json',
          'content-length': String(64 * 1024 * 1024 + 1),
          expect: '100-continue',
        },
      }),
      refuse('body_too_large'),
    ],
    [
      `${name(path)} refuses an Idempotency-Key with a space`,
      post(path, body, { ...REFUSED, headers: { 'idempotency-key': 'a b' } }),
      refuse('invalid_idempotency_key', 'Idempotency-Key'),
    ],
    [
      `${name(path)} refuses an Idempotency-Key of 256 characters`,
      post(path, body, { ...REFUSED, headers: { 'idempotency-key': 'k'.repeat(256) } }),
      refuse('invalid_idempotency_key', 'Idempotency-Key'),
    ],
    [
      `${name(path)} refuses a Reelgate-Label with a space`,
      post(path, body, { ...REFUSED, headers: { 'reelgate-label': 'a b' } }),
      refuse('invalid_request', 'Reelgate-Label'),
    ],
    [
      `${name(path)} refuses an empty Idempotency-Key`,
      post(path, body, { ...REFUSED, headers: { 'idempotency-key': '' } }),
      refuse('invalid_idempotency_key', 'Idempotency-Key'),
    ],
  ]);
});
const types = table(BODIES, [
  [
    'JSON with a charset is JSON',
    post(V1, JSON.stringify(compat()), { headers: { 'content-type': 'application/json; charset=utf-8' } }),
    { status: 200 },
  ],
  [
    'a type that ends in +json is JSON',
    post(V1, JSON.stringify(compat()), { headers: { 'content-type': 'application/vnd.video+json' } }),
    { status: 200 },
  ],
]);

const unsupported = [
  '/v1/files',
  '/v1/files/file-1',
  '/v1/files/file-1/content',
  '/v1/images/variations',
  '/v1/fine-tunes',
  '/v1/fine-tunes/ft-1/cancel',
  '/v1/fine_tuning/jobs',
  '/v1/fine_tuning/jobs/ft-1',
  '/v1/responses/resp_1',
  '/v1/responses/resp_1/cancel',
  '/v1/responses/compact',
  '/v1/conversations',
  '/v1/conversations/conv_1/items',
  '/v1/containers/cntr_1',
  '/v1/vector_stores',
];
const noRetry = { 'x-should-retry': 'false' };
const routes: readonly Row[] = [
  ...table(
    ROUTES,
    unsupported.flatMap((path) =>
      (['GET', 'POST', 'DELETE'] as const).map(
        (method) =>
          [
            `${method} ${path} is not implemented`,
            { method, path },
            refused('api_not_implemented', null, noRetry),
          ] as const,
      ),
    ),
  ),
  sequence(ROUTES, 'a route that is not implemented always has the same body', [
    step(get('/v1/files'), { status: 501 }, { body: '' }),
    step(post('/v1/images/variations', {}), { status: 501, text: '{{body}}' }),
    step(del('/v1/fine-tunes/x'), { status: 501, text: '{{body}}' }),
  ]),
  ...table(ROUTES, [
    ['an unknown route is 404', get('/v1/nowhere'), refused('not_found')],
    ['an unknown route of /v2 is 404 in its envelope', get('/v2/nowhere'), refusedV2('not_found')],
    [
      'an unknown route of /v1beta is 404 in its envelope',
      get('/v1beta/nowhere'),
      { status: 404, body: { error: { status: 'NOT_FOUND' } } },
    ],
    ['an unknown route of no version is 404', get('/nowhere'), refused('not_found')],
    ["the rerank of cohere's second version is 404", post('/v2/rerank', {}), refusedV2('not_found')],
    [
      'a wrong method is 405 and says which is right',
      { method: 'PUT', path: V1 },
      refused('method_not_allowed', undefined, { allow: /GET.*POST|POST.*GET/ }),
    ],
    ['a wrong method of /v2 is 405', get(GENERATION), refusedV2('method_not_allowed', undefined, { allow: 'POST' })],
    [
      'a wrong method of a query is 405',
      post(`${V1}/${UNKNOWN}/content`, {}),
      refused('method_not_allowed', undefined, { allow: /GET/ }),
    ],
    ['GET /v1/videos/ is the list, and no read of a task', get(`${V1}/`), { status: 200, body: { object: 'list' } }],
    ['POST of a word that is not an id is 404', post(`${V1}/edits`, {}), refused('not_found')],
  ]),
  ...table(ROUTES, [
    ['GET /healthz says that the program is alive', get('/healthz', { as: 'no token' }), { status: 200 }],
    ['GET /readyz says that it can serve', get('/readyz', { as: 'no token' }), { status: 200 }],
    [
      'GET / tells a program what the service is',
      get('/', { as: 'no token' }),
      { status: 200, body: { name: 'Reelgate', links: is.object } },
    ],
    [
      'GET / is a page for a browser',
      get('/', { as: 'no token', headers: { accept: 'text/html' } }),
      { status: 200, headers: { 'content-type': /^text\/html/ } },
    ],
    [
      'GET /openapi.json describes the routes',
      get('/openapi.json', { as: 'no token' }),
      { status: 200, body: { openapi: /^3\.1/, paths: { '/v1/videos': is.object, '/v2/h3_context_ir': is.object } } },
    ],
    [
      'GET /docs is a page',
      get('/docs', { as: 'no token' }),
      { status: 200, headers: { 'content-type': /^text\/html/ } },
    ],
  ]),
  ...table(ROUTES, [
    [
      'an answer carries the request id of the client',
      get('/v1/models', { headers: { 'x-request-id': 'my-request-0001' } }),
      { status: 200, headers: { 'x-request-id': 'my-request-0001' } },
    ],
    [
      'a refusal carries the request id of the client',
      get(`${V1}/${UNKNOWN}`, { headers: { 'x-request-id': 'my-request-0002' } }),
      { status: 404, headers: { 'x-request-id': 'my-request-0002' } },
    ],
    [
      'the envelope of /v2 carries the request id of the client',
      get(`/v2/query/video_generation/${UNKNOWN}`, { headers: { 'x-request-id': 'my-request-0003' } }),
      { status: 404, body: { request_id: 'my-request-0003' } },
    ],
    [
      'a request id that is not sane is replaced',
      get('/v1/models', { headers: { 'x-request-id': 'x'.repeat(500) } }),
      { status: 200, headers: { 'x-request-id': /^.{1,128}$/ } },
    ],
    [
      'each answer says how the limit stands',
      get('/v1/models'),
      {
        status: 200,
        headers: { 'x-ratelimit-limit': /^\d+$/, 'x-ratelimit-remaining': /^\d+$/, 'x-ratelimit-reset': /^\d+$/ },
      },
    ],
    ['HEAD of a list has only its headers', head('/v1/models'), { status: 200, text: '' }],
  ]),
];

/** A key that no earlier run has used. */
const key = (): string => `contract-${crypto.randomUUID()}`;
const keyed = (path: string, body: unknown, idempotencyKey: string, headers: object = {}): Request =>
  post(path, body, { headers: { 'idempotency-key': idempotencyKey, ...headers } });
/** Sends the same create three times at once. */
function atOneTime(body: object): Check {
  return async (world) => {
    const request = keyed(V1, body, key());
    const answers = await Promise.all([1, 2, 3].map(async () => send(request, world)));
    const refusal = refused('idempotency_key_in_use', undefined, { 'retry-after': /^[1-9]\d*$/ });
    const [made, others] = [
      answers.filter(({ status }) => status === 200),
      answers.filter(({ status }) => status !== 200),
    ];
    if (made.length !== 1) return `${made.length} of three were answered with 200, expected one`;
    return others
      .map((answer) => mismatch(answer.json, refusal.body) ?? mismatch(answer.headers, refusal.headers, 'header'))
      .find((fault) => fault !== undefined);
  };
}
const replays = CREATES.filter(([path]) => path !== REGENERATION && !path.includes('remix')).map(([path, body]) => {
  const one = key();
  return sequence(KEYS, `${path}: the same key and body give the first answer, byte for byte`, [
    step(
      keyed(path, body, one),
      { status: 200, headers: { 'idempotent-replayed': absent } },
      { body: '', task: 'task_id' },
    ),
    step(keyed(path, body, one), { status: 200, text: '{{body}}', headers: { 'idempotent-replayed': 'true' } }),
    until(get(`${V1}/{{task}}`), { status: 200, body: { status: 'completed' } }),
    step(keyed(path, body, one), { status: 200, text: '{{body}}', headers: { 'idempotent-replayed': 'true' } }),
  ]);
});
const two = (
  title: string,
  first: (one: string) => Request,
  second: (one: string) => Request,
  expect: Parameters<typeof step>[1],
): Row => {
  const one = key();
  return sequence(KEYS, title, [step(first(one), { status: 200 }), step(second(one), expect)]);
};
const again = { status: 200, headers: { 'idempotent-replayed': 'true' } };
const anew = { status: 200, headers: { 'idempotent-replayed': absent } };
const shuffled = '{ "size":"1280x720",\n "seconds" : "4", "prompt":"a red boat",  "model":"Alpha-H3" }';
const keys: readonly Row[] = [
  ...replays,
  two(
    'the order of fields and white space do not make another body',
    (one) => keyed(V1, compat(), one),
    (one) => keyed(V1, shuffled, one),
    again,
  ),
  two(
    'another body is 422',
    (one) => keyed(V1, compat(), one),
    (one) => keyed(V1, compat({ prompt: 'another' }), one),
    refused('idempotency_key_reused'),
  ),
  two(
    'another body is 422 on /v2',
    (one) => keyed(GENERATION, generation(), one),
    (one) => keyed(GENERATION, generation({ duration: 5 }), one),
    refusedV2('idempotency_key_reused'),
  ),
  two(
    'another path is 422',
    (one) => keyed(GENERATION, generation(), one),
    (one) => keyed(GENERATIONS, generations(), one),
    refused('idempotency_key_reused'),
  ),
  two(
    'another key is another create',
    (one) => keyed(V1, compat(), one),
    (one) => keyed(V1, compat(), `${one}-2`),
    anew,
  ),
  two(
    'a key of 255 characters is taken',
    (one) => keyed(V1, compat(), one.padEnd(255, 'k')),
    (one) => keyed(V1, compat(), one.padEnd(255, 'k')),
    again,
  ),
  ...[key()].map((one) =>
    sequence(KEYS, 'a refused request does not use its key up', [
      step(keyed(V1, compat({ seconds: '99' }), one), refused('invalid_duration', 'seconds')),
      step(keyed(V1, compat(), one), anew),
    ]),
  ),
  ...[key()].map((one) =>
    sequence(
      KEYS,
      'an order that the upstream refuses does not use its key up',
      [
        step(keyed(V1, compat({ prompt: '[refuse:422] a red boat' }), one), refused('content_rejected')),
        step(keyed(V1, compat(), one), anew),
      ],
      SANDBOX,
    ),
  ),
  ...[key()].map((one) =>
    sequence(
      KEYS,
      'a key belongs to its account',
      [
        step(keyed(V1, compat(), one), { status: 200 }, { task: 'task_id' }),
        step({ ...keyed(V1, compat(), one), as: 'other' }, anew),
      ],
      { needs: ['own program'] },
    ),
  ),
  sequence(
    KEYS,
    'of requests with one key at one time, one is made and the others are 409 with a time to wait',
    [atOneTime(compat({ prompt: '[late:2s] a red boat' }))],
    SANDBOX,
  ),
];

export const requestRows: readonly Row[] = [...bodies, ...types, ...routes, ...keys];
