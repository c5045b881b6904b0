import { exactly, is } from '../engine/matchers.ts';
import { refused, refusedV2 } from '../engine/refused.ts';
import { get, post, sequence, step, table, until } from '../engine/row.ts';
import type { Request, Row } from '../engine/row.ts';
import {
  CONTEXT_IR,
  GENERATION,
  REGENERATION,
  V1,
  byVideo,
  compat,
  contextIr,
  generation,
  image,
  several,
  text,
} from './bodies.ts';
import { readAccount } from '../../harness/records.ts';

const MONEY = 'Billing';
const USAGE = 'Usage';
const OWN = { needs: ['own program'] } as const;

const estimate = (body: object, path?: string): Request =>
  post(`${V1}/estimate${path === undefined ? '' : `?path=${path}`}`, body);
/** The least bound is the amount, unless the tokens are known only afterwards. */
const amount = (operation: string, value: string, contract: string, least = value): object => ({
  status: 200,
  body: exactly({
    model: 'Alpha-H3',
    operation,
    amount: value,
    max_amount: least,
    currency: 'USD',
    contract,
    version: is.count,
    facts: is.object,
  }),
});
const prices = table(
  MONEY,
  [
    [
      'a generation costs its seconds at the price of its resolution',
      estimate(compat({ seconds: '4' })),
      amount('generation', '0.32', 'Alpha-H3') as never,
    ],
    [
      'a generation at 2K costs the price of 2K',
      estimate(generation({ duration: 10, resolution: '2K' }), GENERATION),
      amount('generation', '1.3', 'Alpha-H3') as never,
    ],
    [
      'images are free up to five',
      estimate(
        generation({
          content: [text(), ...several(5, image('reference_image', 'https://media.example/a.png'))],
          ratio: undefined,
        }),
        GENERATION,
      ),
      amount('generation', '0.32', 'Alpha-H3') as never,
    ],
    [
      'each image beyond five is charged',
      estimate(
        generation({
          content: [text(), ...several(7, image('reference_image', 'https://media.example/a.png'))],
          ratio: undefined,
        }),
        GENERATION,
      ),
      amount('generation', '0.4', 'Alpha-H3') as never,
    ],
    [
      'context-IR costs the hold of its price',
      estimate(contextIr(), CONTEXT_IR),
      amount('context_ir', '0.05', 'Alpha-H3__context_ir', '0.5') as never,
    ],
    [
      'a regeneration costs the seconds of its source under its own price',
      estimate({ model: 'Alpha-H3', source_task_id: '{{video}}' }),
      amount('regeneration', '0.2', 'Alpha-H3__regeneration') as never,
    ],
    ['a model without a price is 400', post(V1, compat({ model: 'Epsilon-Unpriced' })), refused('model_price_error')],
    [
      'a model without a price is 400 on /v2',
      post(GENERATION, generation({ model: 'Epsilon-Unpriced' })),
      refusedV2('model_price_error'),
    ],
    [
      'an estimate without a price is 400',
      estimate(compat({ model: 'Epsilon-Unpriced' })),
      refused('model_price_error'),
    ],
    [
      'a relayed model without a price is 400',
      post('/v1/chat/completions', { model: 'unpriced', messages: [] }),
      refused('model_price_error'),
    ],
  ],
  OWN,
).concat(
  table(MONEY, [
    [
      'an estimate checks its body as the create does',
      estimate(compat({ seconds: '3' })),
      refused('invalid_duration', 'seconds'),
    ],
    ['an estimate for a strict path is strict', estimate(compat(), GENERATION), { status: 400 }],
    [
      'an estimate that belongs to no create is refused',
      estimate(compat(), '/v1/chat/completions'),
      refused('invalid_request', 'path'),
    ],
    [
      'an estimate of an unknown model is 404',
      estimate(compat({ model: 'No-Such-Model' })),
      refused('model_not_found', 'model'),
    ],
    ['GET of an estimate is 405', get(`${V1}/estimate`), refused('method_not_allowed', undefined, { allow: 'POST' })],
  ]),
  table(
    MONEY,
    [
      [
        'a regeneration without a price contract is refused',
        post(REGENERATION, byVideo()),
        refusedV2('model_price_error'),
      ],
      [
        'a regeneration without a price contract is refused on /v1/videos',
        post(V1, byVideo()),
        refused('model_price_error'),
      ],
    ],
    { ...OWN, setting: 'no price of regeneration' },
  ),
);
const free = [
  sequence(
    MONEY,
    'a regeneration whose price is zero is made, and charged nothing',
    [
      step(post(REGENERATION, byVideo(), { as: 'money regeneration' }), { status: 200 }, { task: 'task_id' }),
      until(get(`${V1}/{{task}}`, { as: 'money regeneration' }), { status: 200, body: { status: 'completed' } }),
      until(get('/v1/usage', { as: 'money regeneration' }), {
        status: 200,
        body: { total: { amount: '0', requests: 1 } },
      }),
    ],
    { ...OWN, setting: 'free regeneration' },
  ),
  sequence(
    MONEY,
    'a regeneration without a price contract leaves no task',
    [
      step(post(REGENERATION, byVideo(), { as: 'money regeneration' }), refusedV2('model_price_error')),
      step(get(V1, { as: 'money regeneration' }), { status: 200, body: { data: [] } }),
    ],
    { ...OWN, setting: 'no price of regeneration' },
  ),
];

const charged = (title: string, who: string, request: Request, end: string, total: string): Row => {
  const as = `money ${who}` as const;
  return sequence(
    MONEY,
    title,
    [
      step({ ...request, as }, { status: 200 }, { task: 'task_id' }),
      until(get(`${V1}/{{task}}`, { as }), { status: 200, body: { status: end } }),
      until(get('/v1/usage', { as }), {
        status: 200,
        body: { object: 'usage', currency: 'USD', total: { amount: total } },
      }),
    ],
    OWN,
  );
};
const settled: readonly Row[] = [
  charged(
    'a completed task is charged by its real usage',
    'settles',
    post(GENERATION, generation({}, '[seconds:3] a red boat')),
    'completed',
    '0.24',
  ),
  charged(
    'a completed task without usage is charged by its estimate',
    'usage',
    post(GENERATION, generation({}, '[no-usage] a red boat')),
    'completed',
    '0.32',
  ),
  charged(
    'a failed task is charged nothing',
    'fails',
    post(GENERATION, generation({}, '[fail] a red boat')),
    'failed',
    '0',
  ),
  charged(
    'context-IR without usage keeps its hold',
    'context-ir',
    post(CONTEXT_IR, contextIr({}, '[no-usage] a red boat')),
    'completed',
    '0.05',
  ),
  sequence(
    MONEY,
    'a cancelled task is charged nothing',
    [
      step(
        post(GENERATION, generation({}, '[queue:1h] a red boat'), { as: 'money cancel' }),
        { status: 200 },
        { task: 'task_id' },
      ),
      until(post(`${V1}/{{task}}/cancel`, undefined, { as: 'money cancel' }), { status: 200 }),
      until(get('/v1/usage', { as: 'money cancel' }), { status: 200, body: { total: { amount: '0' } } }),
    ],
    OWN,
  ),
  sequence(
    MONEY,
    'a chat is charged by the tokens of its answer',
    [
      step(
        post(
          '/v1/chat/completions',
          { model: 'solo', messages: [{ role: 'user', content: 'hello' }] },
          { as: 'money chat' },
        ),
        { status: 200 },
      ),
      until(get('/v1/usage', { as: 'money chat' }), { status: 200, body: { total: { amount: '0.025', requests: 1 } } }),
    ],
    OWN,
  ),
];

const usage: readonly Row[] = table(USAGE, [
  [
    'GET /v1/usage is a statement',
    get('/v1/usage'),
    {
      status: 200,
      body: exactly({
        object: 'usage',
        account: is.text,
        currency: is.text,
        from: is.text,
        to: is.text,
        group_by: 'day',
        data: is.list,
        total: is.object,
        has_more: false,
      }),
    },
  ],
  ...['model', 'day', 'token'].map(
    (group) =>
      [`group_by=${group}`, get(`/v1/usage?group_by=${group}`), { status: 200, body: { group_by: group } }] as const,
  ),
  ['group_by of no kind is refused', get('/v1/usage?group_by=colour'), refused('invalid_request', 'group_by')],
  [
    'from and to are days',
    get('/v1/usage?from=2026-11-01&to=2026-11-30'),
    { status: 200, body: { from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' } },
  ],
  [
    'from and to are moments',
    get('/v1/usage?from=2026-11-01T12:00:00Z&to=1795000000'),
    { status: 200, body: { from: '2026-11-01T12:00:00.000Z' } },
  ],
  ['a from that is not a time is refused', get('/v1/usage?from=yesterday'), refused('invalid_request', 'from')],
  ['a to that is not a time is refused', get('/v1/usage?to=2026-13-01'), refused('invalid_request', 'to')],
  ['a from behind its to is refused', get('/v1/usage?from=2026-11-30&to=2026-11-01'), { status: 400 }],
  ['more than 366 days are refused', get('/v1/usage?from=2024-01-01&to=2026-01-01'), { status: 400 }],
  [
    'format=csv is a table',
    get('/v1/usage?format=csv'),
    { status: 200, headers: { 'content-type': /^text\/csv/ }, text: /^day,amount,currency,/ },
  ],
  [
    'Accept: text/csv is a table',
    get('/v1/usage', { headers: { accept: 'text/csv' } }),
    { status: 200, headers: { 'content-type': /^text\/csv/ } },
  ],
  ['a format of no kind is refused', get('/v1/usage?format=xml'), refused('invalid_request', 'format')],
]);

/** Effects that local refusals must not have, checked after all other rows. */
const untouched: readonly Row[] = [
  ...table(
    'Untouched',
    [
      ['local refusals left no task', get(V1, { as: 'refusals' }), { status: 200, body: { data: [] } }],
      [
        'local refusals were charged nothing',
        get('/v1/usage', { as: 'refusals' }),
        { status: 200, body: { total: { amount: '0' } } },
      ],
    ],
    { ...OWN, last: true },
  ),
  sequence(
    'Untouched',
    'local refusals held no money and fetched no medium',
    [
      async ({ own }) => {
        const { balance, held } = await readAccount(own!, 'refusals');
        if (balance !== '100' || held !== '0') return `the account has ${balance}, and ${held} held`;
        return own!.origin.received.some(({ path }) => path.startsWith('/refused'))
          ? 'a medium was fetched'
          : undefined;
      },
    ],
    { ...OWN, last: true },
  ),
  sequence(
    'Untouched',
    'the ledger balances after all rows',
    [
      async ({ own }) => {
        const { code, json } = await own!.command('ledger', 'verify');
        return code === 0 ? undefined : JSON.stringify(json);
      },
    ],
    { ...OWN, last: true },
  ),
];

export const moneyRows: readonly Row[] = [...prices, ...free, ...settled, ...usage, ...untouched];
