import { exactly, is } from '../engine/matchers.ts';
import { refused, refusedV2 } from '../engine/refused.ts';
import { get, post, sequence, step, table, until } from '../engine/row.ts';
import type { Request, Row } from '../engine/row.ts';
import { GENERATION, QUERY, REGENERATION, UNKNOWN, V1, byTask, byVideo, generation } from './bodies.ts';

const SECTION = 'Regeneration';
const REMIX = 'Remix';
const REFUSED = { as: 'refusals' } as const;
const SANDBOX = { needs: ['sandbox'] } as const;
const OWN = { needs: ['own program'] } as const;

const remix = (taskId: string, body: unknown = { model: 'Alpha-H3', resolution: '2K' }): Request =>
  post(`${V1}/${taskId}/remix`, body);
const ends = (name: string, section: string, request: Request): Row =>
  sequence(section, name, [
    step(request, { status: 200, body: { task_id: is.taskId } }, { task: 'task_id' }),
    until(get(`${QUERY}/{{task}}`), {
      status: 200,
      body: { status: 'completed', task: { task_type: 'regeneration', resolution: '2K', content: { url: is.text } } },
    }),
    step(get(`${V1}/{{task}}`), { status: 200, body: { remixed_from_video_id: '{{video}}' } }),
  ]);

const made: readonly Row[] = [
  ends(
    'a completed 768P video is rendered again at 2K',
    SECTION,
    post(REGENERATION, byTask({ source_task_id: '{{video}}' })),
  ),
  ends(
    'a completed 768P video is rendered again through /v1/videos',
    SECTION,
    post(V1, { model: 'Alpha-H3', source_task_id: '{{video}}', resolution: '2K' }),
  ),
  ends(
    'a watermark may be asked for',
    SECTION,
    post(REGENERATION, byTask({ source_task_id: '{{video}}', aigc_watermark: false })),
  ),
  ends('a completed 768P video is remixed', REMIX, remix('{{video}}')),
  ...table(SECTION, [
    [
      'answers {task_id} and nothing else',
      post(REGENERATION, byTask({ source_task_id: '{{video}}' })),
      { status: 200, body: exactly({ task_id: is.taskId }) },
    ],
  ]),
  ...table(REMIX, [
    [
      'answers the task id, under the name of its clients too',
      remix('{{video}}'),
      { status: 200, body: exactly({ id: is.taskId, task_id: is.taskId }) },
    ],
  ]),
  sequence(
    SECTION,
    'a base video has no source task',
    [
      step(post(REGENERATION, byVideo()), { status: 200 }, { task: 'task_id' }),
      until(get(`${QUERY}/{{task}}`), {
        status: 200,
        body: { status: 'completed', task: { task_type: 'regeneration' } },
      }),
    ],
    OWN,
  ),
];

const unfit = table(
  SECTION,
  [
    [
      'a queued source is not ready',
      post(REGENERATION, byTask({ source_task_id: '{{queued-video}}' })),
      refusedV2('source_task_not_ready', 'source_task_id'),
    ],
    [
      'a running source is not ready',
      post(REGENERATION, byTask({ source_task_id: '{{running-video}}' })),
      refusedV2('source_task_not_ready', 'source_task_id'),
    ],
    [
      'a running source is not ready on /v1/videos',
      post(V1, { model: 'Alpha-H3', source_task_id: '{{running-video}}' }),
      refused('source_task_not_ready', 'source_task_id'),
    ],
    [
      'a failed source is refused',
      post(REGENERATION, byTask({ source_task_id: '{{failed-video}}' })),
      { status: 400, body: { type: 'error' } },
    ],
  ],
  SANDBOX,
).concat(
  table(SECTION, [
    [
      'a context-IR task cannot be a source',
      post(REGENERATION, byTask({ source_task_id: '{{context-ir}}' })),
      refusedV2('source_task_unsupported', 'source_task_id'),
    ],
    [
      'a 2K video cannot be a source',
      post(REGENERATION, byTask({ source_task_id: '{{2k-video}}' })),
      refusedV2('source_task_unsupported', 'source_task_id'),
    ],
    [
      'a 2K video cannot be a source on /v1/videos',
      post(V1, { model: 'Alpha-H3', source_task_id: '{{2k-video}}' }),
      refused('source_task_unsupported', 'source_task_id'),
    ],
  ]),
);

const remixes = table(REMIX, [
  ['an unknown task is 404', remix(UNKNOWN), refused('task_not_found', 'video_id')],
  ['an id of the upstream is 404', remix('424010985738629'), refused('task_not_found', 'video_id')],
  ['a 2K video is refused', remix('{{2k-video}}'), refused('source_task_unsupported', 'video_id')],
  ['a context-IR task is refused', remix('{{context-ir}}'), refused('source_task_unsupported', 'video_id')],
  ...(
    [
      ['refuses a prompt', { model: 'Alpha-H3', resolution: '2K', prompt: 'a blue boat' }, 'prompt', 'unknown_field'],
      ['refuses a body without a model', { resolution: '2K' }, 'model', 'missing_model'],
      ['refuses a body without a resolution', { model: 'Alpha-H3' }, 'resolution', 'invalid_resolution'],
      ['refuses another resolution', { model: 'Alpha-H3', resolution: '768P' }, 'resolution', 'invalid_resolution'],
      ['refuses another model', { model: 'Beta-V1', resolution: '2K' }, 'model', 'invalid_request'],
      [
        'refuses another source',
        { model: 'Alpha-H3', resolution: '2K', source_task_id: UNKNOWN },
        'source_task_id',
        'unknown_field',
      ],
      ['refuses content', { model: 'Alpha-H3', resolution: '2K', content: [] }, 'content', 'unknown_field'],
    ] as const
  ).map(([name, body, field, code]) => [name, { ...remix(UNKNOWN, body), ...REFUSED }, refused(code, field)] as const),
]);
const said = table(REMIX, [
  [
    'the body of the OpenAI SDK is refused by one that says what to send',
    { ...remix(UNKNOWN, { prompt: 'x' }), ...REFUSED },
    { status: 400, text: /Alpha-H3.*2K/ },
  ],
]);

const outcomes: readonly Row[] = [
  sequence(
    SECTION,
    'a regeneration that fails upstream says so',
    [
      step(post(GENERATION, generation({}, '[r:fail] a red boat')), { status: 200 }, { source: 'task_id' }),
      until(get(`${V1}/{{source}}`), { status: 200, body: { status: 'completed' } }),
      step(post(REGENERATION, byTask({ source_task_id: '{{source}}' })), { status: 200 }, { task: 'task_id' }),
      until(get(`${V1}/{{task}}`), { status: 200, body: { status: 'failed', error: { code: is.text } } }),
    ],
    SANDBOX,
  ),
];

export const sourceRows: readonly Row[] = [...made, ...unfit, ...remixes, ...said, ...outcomes];
