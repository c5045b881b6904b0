import { Described, containing, exactly, is, oneOf, sized } from '../engine/matchers.ts';
import { refused, refusedV2 } from '../engine/refused.ts';
import { del, get, head, post, sequence, step, table, until } from '../engine/row.ts';
import type { Row } from '../engine/row.ts';
import { GENERATION, QUERY, UNKNOWN, V1, contextIr, generation, CONTEXT_IR } from './bodies.ts';

const CONTENT = 'Content';
const LINKS = 'Links';
const LIST = 'Lists';
const ENDINGS = 'Cancel and delete';
const SANDBOX = { needs: ['sandbox'] } as const;
const OWN = { needs: ['own program'] } as const;

const begins = (at: number, ...bytes: readonly number[]): Described =>
  new Described(
    `bytes with ${bytes.join(' ')} at ${at}`,
    (value) => Buffer.isBuffer(value) && bytes.every((byte, index) => value[at + index] === byte),
  );
const MP4 = begins(4, 0x66, 0x74, 0x79, 0x70);
const JPEG = begins(0, 0xff, 0xd8);
const long = (length: number): Described =>
  new Described(`${length} bytes`, (value) => Buffer.isBuffer(value) && value.length === length);
const content = `${V1}/{{video}}/content`;
const ranged = (range: string): { readonly headers: { readonly range: string } } => ({ headers: { range } });

const contents = table(CONTENT, [
  [
    'a completed video is its bytes, with what a player asks for',
    get(content),
    {
      status: 200,
      bytes: MP4,
      headers: {
        'content-type': /^video\/mp4/,
        'content-length': /^\d+$/,
        'accept-ranges': 'bytes',
        etag: is.text,
        'last-modified': is.text,
        'content-disposition': /^inline/,
        'cache-control': /private/,
        'x-content-type-options': 'nosniff',
      },
    },
  ],
  [
    'HEAD has only the headers',
    head(content),
    { status: 200, text: '', headers: { 'content-length': /^[1-9]\d*$/, 'content-type': /^video\/mp4/ } },
  ],
  [
    'a range is 206',
    get(content, ranged('bytes=0-99')),
    { status: 206, bytes: long(100), headers: { 'content-range': /^bytes 0-99\/\d+$/ } },
  ],
  ['a range in the middle is 206', get(content, ranged('bytes=100-149')), { status: 206, bytes: long(50) }],
  ['the last bytes are 206', get(content, ranged('bytes=-10')), { status: 206, bytes: long(10) }],
  ['an open range is 206', get(content, ranged('bytes=4-')), { status: 206, bytes: begins(0, 0x66, 0x74, 0x79, 0x70) }],
  [
    'a range beyond the end is 416',
    get(content, ranged('bytes=999999999-')),
    { status: 416, headers: { 'content-range': /^bytes \*\/\d+$/ } },
  ],
  ['variant=video is the video', get(`${content}?variant=video`), { status: 200, bytes: MP4 }],
  [
    'variant=thumbnail is a JPEG',
    get(`${content}?variant=thumbnail`),
    { status: 200, bytes: JPEG, headers: { 'content-type': 'image/jpeg' } },
  ],
  [
    'HEAD of the thumbnail has only its headers',
    head(`${content}?variant=thumbnail`),
    { status: 200, text: '', headers: { 'content-type': 'image/jpeg' } },
  ],
  ['variant=spritesheet is refused', get(`${content}?variant=spritesheet`), refused('invalid_request', 'variant')],
  ['an unknown variant is refused', get(`${content}?variant=gif`), refused('invalid_request', 'variant')],
  [
    'the result of a context-IR task is its prompt as JSON',
    get(`${V1}/{{context-ir}}/content`),
    { status: 200, body: exactly({ prompt: is.text }), headers: { 'content-type': /^application\/json/ } },
  ],
  ['the content of an unknown task is 404', get(`${V1}/${UNKNOWN}/content`), refused('task_not_found')],
]);
const early = table(
  CONTENT,
  [
    [
      'a queued task has no content yet: 409, which no SDK repeats',
      get(`${V1}/{{queued-video}}/content`),
      {
        ...refused('task_not_completed'),
        headers: { 'x-should-retry': 'false', 'retry-after': /^\d+$/ },
        text: containing('queued'),
      },
    ],
    [
      'a running task has no content yet',
      get(`${V1}/{{running-video}}/content`),
      { ...refused('task_not_completed'), text: containing('in_progress') },
    ],
    [
      'a failed task has no content',
      get(`${V1}/{{failed-video}}/content`),
      { ...refused('task_not_completed'), text: containing('failed') },
    ],
    [
      'a queued task has no thumbnail',
      get(`${V1}/{{queued-video}}/content?variant=thumbnail`),
      refused('task_not_completed'),
    ],
  ],
  SANDBOX,
);
const conditional = sequence(CONTENT, 'a client that has the bytes gets 304', [
  step(head(content), { status: 200 }, { etag: 'headers.etag' }),
  step(get(content, { headers: { 'if-none-match': '{{etag}}' } }), { status: 304 }),
]);

const linked = (name: string, ...steps: Row['steps']): Row =>
  sequence(LINKS, name, [
    step(get(`${V1}/{{video}}`), { status: 200 }, { link: 'video_url', expires: 'expires_at', done: 'completed_at' }),
    ...steps,
  ]);
const noToken = { as: 'no token' } as const;
const links: readonly Row[] = [
  linked(
    'video_url plays without a token',
    step(get('{{link}}', noToken), { status: 200, bytes: MP4, headers: { 'content-type': /^video\/mp4/ } }),
  ),
  linked(
    'video_url takes ranges',
    step(get('{{link}}', { ...noToken, ...ranged('bytes=0-99') }), { status: 206, bytes: long(100) }),
  ),
  linked('video_url takes HEAD', step(head('{{link}}', noToken), { status: 200, text: '' })),
  linked('video_url with another signature is 403', step(get('{{link}}x', noToken), { status: 403 })),
  linked('video_url with another end is 403', step(get('{{link}}&exp=9999999999', noToken), { status: 403 })),
  linked('a link without its signature is 403', async ({ base }, kept) => {
    const answer = await fetch(new URL(new URL(kept.get('link') ?? '').pathname, base));
    return answer.status === 403 ? undefined : `answered ${answer.status}, expected 403`;
  }),
  linked(
    'the link of each shape plays',
    step(get(`${QUERY}/{{video}}`), { status: 200 }, { other: 'task.content.url' }),
    step(get('{{other}}', noToken), { status: 200, bytes: MP4 }),
  ),
  linked('a result is kept seven days after its completion', async (_world, kept) => {
    const days = (Number(kept.get('expires')) - Number(kept.get('done'))) / 86_400;
    return Math.abs(days - 7) < 0.01 ? undefined : `kept for ${days} days, expected 7`;
  }),
  ...table(LINKS, [
    ['a link of nothing is refused', get('/ximg/none.mp4?exp=9999999999&sig=AAAA', noToken), { status: 403 }],
    [
      'a link out of its folder is refused',
      get('/ximg/..%2f..%2fetc%2fpasswd?exp=9999999999&sig=AAAA', noToken),
      { status: 403 },
    ],
  ]),
];

const page = { object: 'list', data: is.list, has_more: oneOf(true, false) };
const lists: readonly Row[] = [
  ...table(LIST, [
    [
      'GET /v1/videos is a page',
      get(V1),
      { status: 200, body: exactly({ ...page, first_id: is.taskId, last_id: is.taskId }) },
    ],
    [
      'limit=1 is a page of one',
      get(`${V1}?limit=1`),
      { status: 200, body: { ...page, data: sized(1), has_more: oneOf(true, false) } },
    ],
    ['limit=100 is the most', get(`${V1}?limit=100`), { status: 200, body: page }],
    ['limit=0 is refused', get(`${V1}?limit=0`), refused('invalid_request', 'limit')],
    ['limit=101 is refused', get(`${V1}?limit=101`), refused('invalid_request', 'limit')],
    ['limit=ten is refused', get(`${V1}?limit=ten`), refused('invalid_request', 'limit')],
    ['limit=1.5 is refused', get(`${V1}?limit=1.5`), refused('invalid_request', 'limit')],
    ['an empty limit is none', get(`${V1}?limit=`), { status: 200, body: page }],
    ['order=asc is taken', get(`${V1}?order=asc&limit=1`), { status: 200, body: page }],
    ['order=random is refused', get(`${V1}?order=random`), refused('invalid_request', 'order')],
    ['after an overlong id is refused', get(`${V1}?after=${'x'.repeat(65)}`), refused('invalid_request', 'after')],
    [
      'GET /v2/query/video_generation is a page',
      get(QUERY),
      { status: 200, body: exactly({ items: is.list, total: is.count }) },
    ],
    [
      'page_size=1 is a page of one',
      get(`${QUERY}?page_num=1&page_size=1`),
      { status: 200, body: { items: sized(1) } },
    ],
    ['page_size=0 is refused', get(`${QUERY}?page_size=0`), refusedV2('invalid_request', 'page_size')],
    ['page_size=101 is refused', get(`${QUERY}?page_size=101`), refusedV2('invalid_request', 'page_size')],
    ['page_num=0 is refused', get(`${QUERY}?page_num=0`), refusedV2('invalid_request', 'page_num')],
    ['page_num=1001 is refused', get(`${QUERY}?page_num=1001`), refusedV2('invalid_request', 'page_num')],
    [
      'filter.status of no state is refused',
      get(`${QUERY}?filter.status=done`),
      refusedV2('invalid_request', 'filter.status'),
    ],
    [
      'filter.task_type of no kind is refused',
      get(`${QUERY}?filter.task_type=remix`),
      refusedV2('invalid_request', 'filter.task_type'),
    ],
    [
      'filter.task_ids beyond a hundred are refused',
      get(`${QUERY}?filter.task_ids=${Array.from({ length: 101 }, (_, at) => `t${at}`).join(',')}`),
      refusedV2('invalid_request', 'filter.task_ids'),
    ],
    [
      'filter.model beyond a name is refused',
      get(`${QUERY}?filter.model=${'m'.repeat(257)}`),
      refusedV2('invalid_request', 'filter.model'),
    ],
    [
      'filter.task_ids gives those tasks',
      get(`${QUERY}?filter.task_ids={{video}}&filter.task_ids={{context-ir}}`),
      { status: 200, body: { items: sized(2), total: 2 } },
    ],
    [
      'filter.task_ids gives no unknown task',
      get(`${QUERY}?filter.task_ids=${UNKNOWN}`),
      { status: 200, body: { items: sized(0), total: 0 } },
    ],
    [
      'filter.status=succeeded gives completed tasks',
      get(`${QUERY}?filter.status=succeeded&filter.task_ids={{video}}`),
      { status: 200, body: { items: [{ id: '{{video}}', status: 'succeeded' }] } },
    ],
    [
      'filter.status=queued leaves completed tasks out',
      get(`${QUERY}?filter.status=queued&filter.task_ids={{video}}`),
      { status: 200, body: { items: sized(0) } },
    ],
    [
      'filter.task_type=h3_context_ir gives those tasks',
      get(`${QUERY}?filter.task_type=h3_context_ir&filter.task_ids={{video}},{{context-ir}}`),
      { status: 200, body: { items: [{ id: '{{context-ir}}' }] } },
    ],
    [
      'filter.model leaves other models out',
      get(`${QUERY}?filter.model=No-Such-Model`),
      { status: 200, body: { items: sized(0), total: 0 } },
    ],
  ]),
  sequence(
    LIST,
    'shows the tasks of every route, newest first, page by page, and those of no other account',
    [
      step(
        post(V1, { model: 'Alpha-H3', prompt: 'one' }, { as: 'money estimate' }),
        { status: 200 },
        { one: 'task_id' },
      ),
      step(post(GENERATION, generation(), { as: 'money estimate' }), { status: 200 }, { two: 'task_id' }),
      step(post(CONTEXT_IR, contextIr(), { as: 'money estimate' }), { status: 200 }, { three: 'task_id' }),
      step(get(`${V1}?limit=2`, { as: 'money estimate' }), {
        status: 200,
        body: {
          data: [{ id: '{{three}}' }, { id: '{{two}}' }],
          first_id: '{{three}}',
          last_id: '{{two}}',
          has_more: true,
        },
      }),
      step(get(`${V1}?limit=2&after={{two}}`, { as: 'money estimate' }), {
        status: 200,
        body: { data: [{ id: '{{one}}' }], has_more: false },
      }),
      step(get(`${V1}?order=asc`, { as: 'money estimate' }), {
        status: 200,
        body: { data: [{ id: '{{one}}' }, { id: '{{two}}' }, { id: '{{three}}' }] },
      }),
      step(get(`${QUERY}?page_num=2&page_size=2`, { as: 'money estimate' }), {
        status: 200,
        body: { items: [{ id: '{{one}}' }], total: 3 },
      }),
      step(get(`${QUERY}?filter.task_ids={{one}}`), { status: 200, body: { items: sized(0), total: 0 } }),
    ],
    OWN,
  ),
];

const made = (words: string): Row['steps'][number] =>
  step(post(GENERATION, generation({}, `${words} a red boat`)), { status: 200 }, { task: 'task_id' });
const queued = until(get(`${V1}/{{task}}`), { status: 200, body: { status: 'queued' } });
const endings: readonly Row[] = [
  sequence(
    ENDINGS,
    'a queued task is cancelled: failed, with the code cancelled',
    [
      made('[queue:1h]'),
      queued,
      step(post(`${V1}/{{task}}/cancel`), {
        status: 200,
        body: { id: '{{task}}', object: 'video', status: 'failed', error: { code: 'cancelled' } },
      }),
      step(get(`${V1}/{{task}}`), { status: 200, body: { status: 'failed', error: { code: 'cancelled' } } }),
    ],
    SANDBOX,
  ),
  sequence(
    ENDINGS,
    'a queued task is cancelled in the vendor shape',
    [
      made('[queue:1h]'),
      queued,
      step(del(`${GENERATION}/{{task}}`), {
        status: 200,
        body: exactly({ task_id: '{{task}}', action: 'cancelled', status: 'cancelled' }),
      }),
    ],
    SANDBOX,
  ),
  sequence(
    ENDINGS,
    'a cancelled task is not cancelled twice',
    [
      made('[queue:1h]'),
      queued,
      step(post(`${V1}/{{task}}/cancel`), { status: 200 }),
      step(post(`${V1}/{{task}}/cancel`), refused('task_not_cancellable')),
    ],
    SANDBOX,
  ),
  ...table(
    ENDINGS,
    [
      ['a running task is not cancelled', post(`${V1}/{{running-video}}/cancel`), refused('task_not_cancellable')],
      [
        'a running task is not cancelled in the vendor shape',
        del(`${GENERATION}/{{running-video}}`),
        refusedV2('task_not_cancellable'),
      ],
      ['a running task is not deleted', del(`${V1}/{{running-video}}`), refused('task_not_completed')],
      ['a queued task is not deleted', del(`${V1}/{{queued-video}}`), refused('task_not_completed')],
      ['a failed task is not cancelled', post(`${V1}/{{failed-video}}/cancel`), refused('task_not_cancellable')],
    ],
    SANDBOX,
  ),
  ...table(ENDINGS, [
    ['a completed task is not cancelled', post(`${V1}/{{video}}/cancel`), refused('task_not_cancellable')],
    [
      'a completed task is not cancelled in the vendor shape, nor removed',
      del(`${GENERATION}/{{video}}`),
      refusedV2('task_not_cancellable'),
    ],
    ['an unknown task is not cancelled', post(`${V1}/${UNKNOWN}/cancel`), refused('task_not_found')],
    [
      'an unknown task is not cancelled in the vendor shape',
      del(`${GENERATION}/${UNKNOWN}`),
      refusedV2('task_not_found'),
    ],
    ['an unknown task is not deleted', del(`${V1}/${UNKNOWN}`), refused('task_not_found')],
  ]),
  sequence(
    ENDINGS,
    'a deleted task is gone with its content, its link and its place in the list',
    [
      made(''),
      until(get(`${V1}/{{task}}`), { status: 200, body: { status: 'completed' } }, { link: 'video_url' }),
      step(del(`${V1}/{{task}}`), {
        status: 200,
        body: exactly({ id: '{{task}}', object: 'video.deleted', deleted: true }),
      }),
      until(get(`${V1}/{{task}}`), refused('task_not_found')),
      step(get(`${V1}/{{task}}/content`), refused('task_not_found')),
      step(get(`${QUERY}?filter.task_ids={{task}}`), { status: 200, body: { items: sized(0) } }),
      step(del(`${V1}/{{task}}`), refused('task_not_found')),
      until(get('{{link}}', noToken), refused('result_expired')),
    ],
    OWN,
  ),
  sequence(
    ENDINGS,
    'a failed task is deleted',
    [
      made('[fail]'),
      until(get(`${V1}/{{task}}`), { status: 200, body: { status: 'failed' } }),
      step(del(`${V1}/{{task}}`), { status: 200 }),
      until(get(`${V1}/{{task}}`), refused('task_not_found')),
    ],
    SANDBOX,
  ),
];

export const resultRows: readonly Row[] = [...contents, ...early, conditional, ...links, ...lists, ...endings];
