import { absent, containing, exactly, is, oneOf, within } from '../engine/matchers.ts';
import { refused, refusedV2 } from '../engine/refused.ts';
import { get, post, sequence, step, table, until } from '../engine/row.ts';
import type { Row } from '../engine/row.ts';
import { CONTEXT_IR, GENERATION, GENERATIONS, QUERY, UNKNOWN, V1, compat, contextIr, generation } from './bodies.ts';

const SECTION = 'Reads';
const STATES = 'States';
const SANDBOX = { needs: ['sandbox'] } as const;

const link = containing('/ximg/');
const completed = table(SECTION, [
  [
    'the compatibility shape of a completed video',
    get(`${V1}/{{compat-video}}`),
    {
      status: 200,
      body: exactly({
        id: '{{compat-video}}',
        task_id: '{{compat-video}}',
        object: 'video',
        model: 'Alpha-H3',
        status: 'completed',
        progress: 100,
        created_at: is.unix,
        completed_at: is.unix,
        expires_at: is.unix,
        seconds: is.wholeText,
        size: '1280x720',
        video_url: link,
        metadata: exactly({ url: link }),
        usage: is.object,
        charge: exactly({ state: is.text, amount: is.text, currency: is.text }),
        polling_url: `${V1}/{{compat-video}}`,
      }),
      headers: { 'openai-poll-after-ms': absent },
    },
  ],
  [
    'the vendor shape of a completed video',
    get(`${QUERY}/{{video}}`),
    {
      status: 200,
      body: exactly({
        task_id: '{{video}}',
        status: 'completed',
        task: exactly({
          id: '{{video}}',
          model: 'Alpha-H3',
          status: 'succeeded',
          created_at: is.unix,
          updated_at: is.unix,
          content: exactly({ url: link }),
          resolution: '768P',
          duration: 4,
          usage: { total_seconds: 4 },
          ratio: '16:9',
          task_type: 'generation',
          modality: 'video',
        }),
      }),
    },
  ],
  [
    'the flat shape of a completed video',
    get(`${GENERATIONS}/{{video}}`),
    {
      status: 200,
      body: exactly({
        task_id: '{{video}}',
        id: '{{video}}',
        status: 'completed',
        url: link,
        format: 'mp4',
        metadata: exactly({ duration: oneOf(4.458, 4.458333, 4.46), fps: 24, width: is.width, height: is.width }),
      }),
    },
  ],
  [
    'the compatibility shape of a completed context-IR task has its prompt and no video',
    get(`${V1}/{{context-ir}}`),
    { status: 200, body: { status: 'completed', video_url: absent, metadata: exactly({ prompt: is.text }) } },
  ],
  [
    'the vendor shape of a completed context-IR task has its prompt and no video',
    get(`${QUERY}/{{context-ir}}`),
    {
      status: 200,
      body: {
        status: 'completed',
        task: {
          status: 'succeeded',
          content: exactly({ prompt: is.text }),
          task_type: 'h3_context_ir',
          modality: 'text',
          resolution: absent,
          usage: { total_tokens: is.count },
        },
      },
    },
  ],
  [
    'the flat shape of a completed context-IR task has its prompt',
    get(`${GENERATIONS}/{{context-ir}}`),
    {
      status: 200,
      body: exactly({ task_id: is.taskId, id: is.taskId, status: 'completed', metadata: exactly({ prompt: is.text }) }),
    },
  ],
  ['an unknown task is 404', get(`${V1}/${UNKNOWN}`), refused('task_not_found')],
  ['an unknown task is 404 in the vendor shape', get(`${QUERY}/${UNKNOWN}`), refusedV2('task_not_found')],
  ['an unknown task is 404 in the flat shape', get(`${GENERATIONS}/${UNKNOWN}`), refused('task_not_found')],
  ['an id of the upstream is not a task id', get(`${V1}/424010985738629`), refused('task_not_found')],
  [
    'an id of the upstream is not a task id in the vendor shape',
    get(`${QUERY}/424010985738629`),
    refusedV2('task_not_found'),
  ],
  ['what cannot be an id is 404', get(`${V1}/..%2f..%2fetc`), { status: 404 }],
  ['an id that is too long is 404', get(`${V1}/${'x'.repeat(300)}`), { status: 404 }],
  ...['edits', 'extensions', 'characters'].map(
    (word) => [`${word} is no id of a task`, get(`${V1}/${word}`), refused('not_found')] as const,
  ),
]);

const failed = table(
  SECTION,
  [
    [
      'a failed task is read with 200 and its reason',
      get(`${V1}/{{failed-video}}`),
      {
        status: 200,
        body: {
          status: 'failed',
          error: exactly({ code: is.text, message: is.text }),
          video_url: absent,
          progress: within(0, 99),
        },
      },
    ],
    [
      'a failed task has its reason in the vendor shape',
      get(`${QUERY}/{{failed-video}}`),
      {
        status: 200,
        body: {
          status: 'failed',
          task: {
            status: 'failed',
            error: exactly({ code: is.text, message: is.text }),
            usage: exactly({}),
            content: absent,
          },
        },
      },
    ],
    [
      'a failed task has its reason in the flat shape',
      get(`${GENERATIONS}/{{failed-video}}`),
      { status: 200, body: { status: 'failed', error: exactly({ code: is.text, message: is.text }), url: absent } },
    ],
    [
      'a queued task says when to read it again',
      get(`${V1}/{{queued-video}}`),
      {
        status: 200,
        body: {
          status: 'queued',
          video_url: absent,
          error: absent,
          completed_at: absent,
          expires_at: absent,
          usage: absent,
        },
        headers: { 'openai-poll-after-ms': /^\d+$/, 'retry-after': /^\d+$/ },
      },
    ],
    [
      'a queued task in the vendor shape',
      get(`${QUERY}/{{queued-video}}`),
      {
        status: 200,
        body: { status: 'queued', task: { status: 'queued', usage: exactly({}), content: absent } },
        headers: { 'retry-after': /^\d+$/ },
      },
    ],
    [
      'a running task in the compatibility shape',
      get(`${V1}/{{running-video}}`),
      { status: 200, body: { status: 'in_progress', progress: within(0, 99) } },
    ],
    [
      'a running task in the vendor shape',
      get(`${QUERY}/{{running-video}}`),
      { status: 200, body: { status: 'in_progress', task: { status: 'running' } } },
    ],
    [
      'a running task in the flat shape',
      get(`${GENERATIONS}/{{running-video}}`),
      { status: 200, body: { status: 'in_progress', url: absent } },
    ],
  ],
  SANDBOX,
);

const waits: readonly Row[] = [
  sequence(SECTION, 'Prefer: wait=N holds the read until the state changes', [
    step(post(GENERATION, generation()), { status: 200 }, { task: 'task_id' }),
    step(get(`${V1}/{{task}}`, { headers: { prefer: 'wait=30' } }), {
      status: 200,
      body: { status: oneOf('in_progress', 'completed') },
      headers: { 'preference-applied': 'wait=30' },
    }),
  ]),
  ...table(
    SECTION,
    [
      [
        'Prefer: wait=N ends after N seconds',
        get(`${V1}/{{queued-video}}`, { headers: { prefer: 'wait=1' } }),
        { status: 200, body: { status: 'queued' }, headers: { 'preference-applied': 'wait=1' } },
      ],
      [
        'a wait of zero does not wait',
        get(`${V1}/{{queued-video}}`, { headers: { prefer: 'wait=0' } }),
        { status: 200, headers: { 'preference-applied': absent } },
      ],
      [
        'another preference is ignored',
        get(`${V1}/{{queued-video}}`, { headers: { prefer: 'respond-async' } }),
        { status: 200, headers: { 'preference-applied': absent } },
      ],
    ],
    SANDBOX,
  ),
  ...table(SECTION, [
    [
      'a wait on a completed task is answered at once',
      get(`${QUERY}/{{video}}`, { headers: { prefer: 'wait=60' } }),
      { status: 200, body: { status: 'completed' } },
    ],
    [
      'a wait is at most a minute',
      get(`${V1}/{{video}}`, { headers: { prefer: 'wait=900' } }),
      { status: 200, headers: { 'preference-applied': 'wait=60' } },
    ],
  ]),
];

const ends = (name: string, words: string, ...then: Row['steps']): Row =>
  sequence(
    STATES,
    name,
    [step(post(GENERATION, generation({}, `${words} a red boat`)), { status: 200 }, { task: 'task_id' }), ...then],
    SANDBOX,
  );
const read = get(`${V1}/{{task}}`);
const is200 = (body: object): { status: number; body: object } => ({ status: 200, body });
const states: readonly Row[] = [
  ends(
    'queued, in_progress, completed',
    '[queue:1s] [slow:2s]',
    step(read, is200({ status: 'queued' })),
    until(read, is200({ status: 'in_progress' })),
    until(read, is200({ status: 'completed', progress: 100, error: absent })),
    step(read, is200({ status: 'completed' })),
  ),
  ends(
    'in_progress, failed',
    '[slow:2s] [fail]',
    until(read, is200({ status: 'in_progress' })),
    until(read, is200({ status: 'failed' })),
  ),
  ends(
    'a task that the upstream cancelled is failed',
    '[cancelled]',
    until(read, is200({ status: 'failed', error: { code: 'cancelled' } })),
  ),
  ends(
    'a task that expired upstream is failed',
    '[expired]',
    until(read, is200({ status: 'failed', error: { code: 'expired' } })),
  ),
  ends(
    'another status word is kept as received, and does not end the task',
    '[unknown:paused_by_moon]',
    until(read, is200({ status: 'paused_by_moon', completed_at: absent, video_url: absent, error: absent })),
    step(get(`${QUERY}/{{task}}`), is200({ status: 'paused_by_moon', task: { status: 'paused_by_moon' } })),
    step(get(`${V1}/{{task}}/content`), refused('task_not_completed')),
  ),
  ends(
    'a task continues after another status word',
    '[unknown:paused] [recover:4s]',
    until(read, is200({ status: 'paused' })),
    until(read, is200({ status: 'completed' })),
  ),
  ends(
    'failed reads of the upstream do not end a task',
    '[poll-error:500x2]',
    until(read, is200({ status: 'completed' })),
  ),
  ends('pages of the upstream do not end a task', '[poll-html:2]', until(read, is200({ status: 'completed' }))),
  ends(
    'connections that the upstream cuts do not end a task',
    '[poll-reset:2]',
    until(read, is200({ status: 'completed' })),
  ),
  ends('success without usage completes', '[no-usage]', until(read, is200({ status: 'completed' }))),
  sequence(
    STATES,
    'context-IR ends with an enhanced prompt that holds its words',
    [
      step(post(CONTEXT_IR, contextIr({}, 'a purple submarine')), { status: 200 }, { task: 'task_id' }),
      until(
        get(`${QUERY}/{{task}}`),
        is200({ status: 'completed', task: { content: { prompt: containing('a purple submarine') } } }),
      ),
    ],
    SANDBOX,
  ),
  sequence(
    STATES,
    'a failed context-IR has its reason',
    [
      step(post(CONTEXT_IR, contextIr({}, '[fail] a red boat')), { status: 200 }, { task: 'task_id' }),
      until(get(`${QUERY}/{{task}}`), is200({ status: 'failed', task: { error: { code: is.text }, content: absent } })),
    ],
    SANDBOX,
  ),
  sequence(
    STATES,
    'a lost answer to a create leaves a queued task, which is found upstream again',
    [
      step(
        post(V1, compat({ prompt: '[reset] one and only' })),
        { status: 200, body: { status: 'queued' } },
        { task: 'id' },
      ),
      step(read, is200({ status: oneOf('queued', 'in_progress', 'completed') })),
    ],
    SANDBOX,
  ),
];

export const readRows: readonly Row[] = [...completed, ...failed, ...waits, ...states];
