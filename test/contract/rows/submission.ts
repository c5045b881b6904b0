import { oneOf } from '../engine/matchers.ts';
import { refused, refusedV2 } from '../engine/refused.ts';
import { get, post, sequence, step, table, until } from '../engine/row.ts';
import type { Row } from '../engine/row.ts';
import { ALONE, RETRIED } from '../world/refusing-upstreams.ts';
import {
  CONTEXT_IR,
  GENERATION,
  GENERATIONS,
  QUERY,
  REGENERATION,
  V1,
  byVideo,
  compat,
  contextIr,
  generation,
  generations,
  text,
  video,
} from './bodies.ts';

const SECTION = 'Submission';
const SANDBOX = { needs: ['sandbox'] } as const;
const OWN = { needs: ['own program'] } as const;

const refusals = table(
  SECTION,
  [
    [
      'content that the generator refuses is 422',
      post(V1, compat({ prompt: '[refuse:1026] a red boat' })),
      refused('content_rejected'),
    ],
    [
      'content that the generator refuses is 422 in the flat dialect',
      post(GENERATIONS, generations({ prompt: '[refuse:1026] a red boat' })),
      refused('content_rejected'),
    ],
    [
      'content that the generator refuses is 422 on /v2',
      post(GENERATION, generation({}, '[refuse:1026] a red boat')),
      refusedV2('content_rejected'),
    ],
    [
      'content that the generator refuses is 422 for context-IR',
      post(CONTEXT_IR, contextIr({}, '[refuse:1026] a red boat')),
      refusedV2('content_rejected'),
    ],
    [
      'an order that the generator refuses is 400',
      post(V1, compat({ prompt: '[refuse:2013] a red boat' })),
      refused('invalid_request'),
    ],
    [
      'an order that the generator refuses is 400 on /v2',
      post(GENERATION, generation({}, '[refuse:2013] a red boat')),
      refusedV2('invalid_request'),
    ],
    [
      'a generator without balance is not shown as a fault of the client',
      post(V1, compat({ prompt: '[refuse:1008] a red boat' })),
      refused('no_channel_available'),
    ],
    [
      'a generator without balance that answers 200 is not shown as a fault of the client',
      post(V1, compat({ prompt: '[base-resp:1008] a red boat' })),
      refused('no_channel_available'),
    ],
    [
      'a generator that is overloaded is 503',
      post(GENERATION, generation({}, '[refuse:500] a red boat')),
      { status: 503, headers: { 'retry-after': /^\d+$/ } },
    ],
    [
      'a generator at its limit is 429 with a time to wait',
      { ...post(V1, compat({ prompt: '[refuse:429] a red boat' })), headers: { prefer: 'queue=none' } },
      refused('rate_limit_exceeded', undefined, { 'retry-after': /^\d+$/ }),
    ],
  ],
  SANDBOX,
);

/** A lost answer: the task exists, and nothing is submitted twice. */
const lost = (
  [
    ['a connection that the generator cuts', '[reset]'],
    ['a page in the place of an answer', '[html]'],
    ['an answer without an id', '[no-id]'],
  ] as const
).map(([what, words]) =>
  sequence(
    SECTION,
    `${what} leaves a task whose state is told by polling`,
    [
      step(post(GENERATION, generation({}, `${words} a red boat`)), { status: 200 }, { task: 'task_id' }),
      step(get(`${V1}/{{task}}`), { status: 200, body: { status: oneOf('queued', 'in_progress', 'completed') } }),
    ],
    SANDBOX,
  ),
);

const retried: readonly Row[] = [
  ...RETRIED.map(([status, model]) =>
    sequence(
      SECTION,
      `a channel that answers ${status} is left for the next one, which gets the same order`,
      [
        step(post(GENERATION, generation({ model, ratio: '9:16', duration: 6 })), { status: 200 }, { task: 'task_id' }),
        until(get(`${QUERY}/{{task}}`), {
          status: 200,
          body: { status: 'completed', task: { model, ratio: '9:16', duration: 6 } },
        }),
      ],
      OWN,
    ),
  ),
  ...table(
    SECTION,
    ALONE.map(([status, model]) => [
      `the only channel answers ${status}: the client learns of no credential, and may try again`,
      post(V1, compat({ model })),
      refused('no_channel_available', undefined, { 'retry-after': /^\d+$/ }),
    ]),
    OWN,
  ),
];

const sources: readonly Row[] = [
  sequence(
    'Regeneration',
    'a regenerated video cannot be a source, because it is 2K',
    [
      step(
        post(REGENERATION, { model: 'Alpha-H3', resolution: '2K', source_task_id: '{{video}}' }),
        { status: 200 },
        { source: 'task_id' },
      ),
      until(get(`${V1}/{{source}}`), { status: 200, body: { status: 'completed' } }),
      step(
        post(REGENERATION, { model: 'Alpha-H3', resolution: '2K', source_task_id: '{{source}}' }),
        refusedV2('source_task_unsupported', 'source_task_id'),
      ),
    ],
    SANDBOX,
  ),
  ...table(
    'Media',
    [
      [
        'takes the content address of a task of the account',
        post(REGENERATION, byVideo({ content: [text(), video('base_video', '{{base}}/v1/videos/{{video}}/content')] })),
        { status: 200 },
      ],
      [
        'refuses the content address of a task of another account',
        post(
          REGENERATION,
          byVideo({ content: [text(), video('base_video', '{{base}}/v1/videos/{{other-video}}/content')] }),
        ),
        { status: 400, body: { type: 'error' } },
      ],
      [
        'refuses the content address of an unknown task',
        post(
          REGENERATION,
          byVideo({
            content: [text(), video('base_video', '{{base}}/v1/videos/task_00000000000000000000000000/content')],
          }),
        ),
        { status: 400, body: { type: 'error' } },
      ],
      [
        'refuses a base video that is 2K already',
        post(REGENERATION, byVideo({ content: [text(), video('base_video', '{{media}}/2k.mp4')] })),
        { status: 400, body: { type: 'error' } },
      ],
    ],
    OWN,
  ),
  sequence(
    'Media',
    'takes the path of a link of a result',
    [
      step(get(`${V1}/{{video}}`), { status: 200 }, { link: 'video_url' }),
      async (_world, kept) => {
        const { pathname, search } = new URL(kept.get('link') ?? '');
        kept.set('path', pathname + search);
        return undefined;
      },
      step(post(REGENERATION, byVideo({ content: [text(), video('base_video', '{{path}}')] })), { status: 200 }),
    ],
    OWN,
  ),
];

export const submissionRows: readonly Row[] = [...refusals, ...lost, ...retried, ...sources];
