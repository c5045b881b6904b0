import { absent, containing, exactly, is, oneOf } from '../engine/matchers.ts';
import { get, post, sequence, step, table } from '../engine/row.ts';
import type { Expectation, Row } from '../engine/row.ts';
import { QUERY, UNKNOWN, V1, image, sound, video } from './bodies.ts';
import { chat } from './relay-bodies.ts';

const SECTION = "OpenRouter's shape";
const PATH = '/api/v1/videos';
const REFUSED = { as: 'refusals' } as const;
const OWN = { needs: ['own program'] } as const;
const order = (over: object = {}): object => ({ model: 'Alpha-H3', prompt: 'a red boat', duration: 4, ...over });
const frame = (type: string): object => ({ ...image(), frame_type: type });

/** A refusal in OpenRouter's envelope, which names the field beside the reason. */
const refusedWith = (status: number, reason: string, param?: string): Expectation => ({
  status,
  body: { error: { code: status, message: is.text, metadata: { reason, ...(param === undefined ? {} : { param }) } } },
});

const created: Row = sequence(SECTION, 'a create is accepted with 202 and the address of its read', [
  step(
    post(PATH, order()),
    { status: 202, body: exactly({ id: is.taskId, polling_url: containing(`${PATH}/`), status: 'pending' }) },
    { id: 'id' },
  ),
  step(get(`${PATH}/{{id}}`), {
    status: 200,
    body: {
      id: '{{id}}',
      polling_url: containing(`${PATH}/{{id}}`),
      status: oneOf('pending', 'in_progress', 'completed'),
    },
  }),
  step(get(`${V1}/{{id}}`), { status: 200, body: { id: '{{id}}', object: 'video' } }),
]);

/** Orders, as the vendor's shape shows them. */
const ACCEPTED: readonly (readonly [name: string, body: object, task: object])[] = [
  [
    'length, ratio and resolution',
    { duration: 5, aspect_ratio: '9:16', resolution: '2K' },
    { duration: 5, ratio: '9:16', resolution: '2K' },
  ],
  ['a resolution in any case', { resolution: '768p' }, { resolution: '768P' }],
  ['a size', { size: '720x1280' }, { ratio: '9:16', resolution: '768P' }],
  ['a first and a last frame', { frame_images: [frame('first_frame'), frame('last_frame')] }, {}],
  ['references of each kind', { input_references: [image(), video(), sound()] }, {}],
  ["the client's own words", { user: 'u', session_id: 's', trace: { trace_id: 't' }, n: 1 }, {}],
];
const accepted = ACCEPTED.map(([name, over, task]) =>
  sequence(
    SECTION,
    `takes ${name}`,
    [
      step(post(PATH, order(over)), { status: 202 }, { id: 'id' }),
      step(get(`${QUERY}/{{id}}`), { status: 200, body: { task: { task_type: 'generation', ...task } } }),
    ],
    OWN,
  ),
);

const refusals = table(SECTION, [
  ['no token is refused', post(PATH, order(), { as: 'no token' }), refusedWith(401, 'invalid_api_key')],
  ['no model is refused', post(PATH, { prompt: 'a boat' }, REFUSED), refusedWith(400, 'missing_model', 'model')],
  ['no prompt is refused', post(PATH, { model: 'Alpha-H3' }, REFUSED), refusedWith(400, 'invalid_content', 'prompt')],
  [
    'a length outside the model is refused',
    post(PATH, order({ duration: 99 }), REFUSED),
    refusedWith(400, 'invalid_duration', 'duration'),
  ],
  [
    'a ratio outside the model is refused',
    post(PATH, order({ aspect_ratio: '9:21' }), REFUSED),
    refusedWith(400, 'invalid_ratio', 'aspect_ratio'),
  ],
  [
    'a resolution outside the model is refused',
    post(PATH, order({ resolution: '720p' }), REFUSED),
    refusedWith(400, 'invalid_resolution', 'resolution'),
  ],
  [
    'frames beside references are refused',
    post(PATH, order({ frame_images: [frame('first_frame')], input_references: [image()] }), REFUSED),
    { status: 400, body: { error: { code: 400, metadata: { reason: 'invalid_content' } } } },
  ],
  [
    'a callback is refused',
    post(PATH, order({ callback_url: 'https://x.example/hook' }), REFUSED),
    refusedWith(400, 'unknown_field', 'callback_url'),
  ],
  [
    'a job to go on from is refused',
    post(PATH, order({ previous_job_id: UNKNOWN }), REFUSED),
    refusedWith(400, 'unknown_field', 'previous_job_id'),
  ],
  [
    'options of a provider are refused',
    post(PATH, order({ provider: { options: { runway: { a: 1 } } } }), REFUSED),
    refusedWith(400, 'unknown_field', 'provider'),
  ],
  [
    'a seed that no generator takes is refused',
    post(PATH, order({ seed: 7 }), REFUSED),
    refusedWith(400, 'unknown_field', 'seed'),
  ],
  [
    "a field of OpenAI's shape is refused",
    post(PATH, order({ seconds: '4' }), REFUSED),
    refusedWith(400, 'unknown_field', 'seconds'),
  ],
  ['an unknown parameter is refused', post(`${PATH}?n=2`, order(), REFUSED), refusedWith(400, 'unknown_field', 'n')],
  [
    'an unknown model is 404',
    post(PATH, order({ model: 'none' }), REFUSED),
    refusedWith(404, 'model_not_found', 'model'),
  ],
  ['an unknown task is 404', get(`${PATH}/${UNKNOWN}`), refusedWith(404, 'task_not_found')],
  [
    'a second video of a task is refused',
    get(`${PATH}/${UNKNOWN}/content?index=1`),
    refusedWith(400, 'invalid_request', 'index'),
  ],
  ['another route of OpenRouter is 404', get('/api/v1/credits'), refusedWith(404, 'not_found')],
  ['another method is 405', { method: 'DELETE', path: `${PATH}/${UNKNOWN}` }, refusedWith(405, 'not_found')],
]);

const money = table(
  SECTION,
  [['no money is 402', post(PATH, order(), { as: 'poor' }), refusedWith(402, 'insufficient_quota')]],
  OWN,
);

const reads = table(SECTION, [
  [
    'a completed video',
    get(`${PATH}/{{video}}`),
    {
      status: 200,
      body: {
        id: '{{video}}',
        polling_url: containing(`${PATH}/{{video}}`),
        status: 'completed',
        unsigned_urls: [containing('/ximg/')],
        error: absent,
      },
    },
  ],
  [
    'the bytes of a completed video',
    get(`${PATH}/{{video}}/content?index=0`),
    { status: 200, headers: { 'content-type': 'video/mp4' } },
  ],
  ['the models', get(`${PATH}/models`), { status: 200, body: { data: is.list } }],
  ['every model', get('/api/v1/models'), { status: 200, body: { data: is.list, links: { next: null } } }],
]);

const relayed = table(
  SECTION,
  [
    ['chat below the same base', post('/api/v1/chat/completions', chat()), { status: 200, body: { model: 'solo' } }],
    [
      'responses below the same base',
      post('/api/v1/responses', { model: 'solo', input: 'hello' }),
      { status: 200, body: { object: 'response' } },
    ],
    [
      'embeddings below the same base',
      post('/api/v1/embeddings', { model: 'solo', input: 'hello' }),
      { status: 200, body: { data: is.list } },
    ],
    [
      'a cut connection is 424, because its clients repeat every 5xx',
      post('/api/v1/chat/completions', chat({ model: 'same' }, '[reset] hello')),
      { ...refusedWith(424, 'upstream_failed'), headers: { 'x-should-retry': 'false' } },
    ],
  ],
  OWN,
);

export const openrouterRows: readonly Row[] = [created, ...accepted, ...refusals, ...money, ...reads, ...relayed];
