import { describe, expect, test } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Now } from '../../api/operator-now.ts';
import type { RpcAnswer } from '../../api/calls.ts';
import { AttentionView } from './attention.tsx';
import type { AttentionViewProps } from './attention.tsx';
import type { AttentionList } from './parts/attention-rows.ts';
import { modelsOfItAlone } from './parts/channel-rows.ts';
import type { ChannelRow } from './parts/channel-rows.ts';
import { listPrices, toLastDay } from './channel.tsx';
import { ChannelsView } from './channels.tsx';
import { NowView } from './now.tsx';
import { WaitingView } from './waiting.tsx';
import { readStanding } from './parts/channel-card.tsx';

const usd = (amount: string): { amount: string; currency: string } => ({ amount, currency: 'USD' });
const text = (markup: string): string =>
  markup
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,:])/g, '$1');

const now: Now = {
  lights: [
    { name: 'creates', grade: 'ok', figure: '12 / min', minutes: [1, 4, 2] },
    { name: 'channels', grade: 'fail', figure: '1 of 3', why: 'east is paused', minutes: [] },
  ],
  unfinished: 1237,
  services: [{ name: 'media', isReachable: false }],
  now: 0,
};

const acts = [
  {
    ...{ id: 'act_1', actor: 'ada', action: 'account_credited', subject: 'demo', reason: 'invoice 7' },
    ...{ at: '1970-01-01T00:00:00Z', detailJson: '{"amount":"250","currency":"USD"}' },
  },
];

describe('now', () => {
  const shown = renderToString(h(NowView, { now, acts }));

  test('says each light in words beside its colour and its picture', () => {
    expect(text(shown)).toContain(
      'Creates ● In order 12 / min orders are taken Last hour, creates a minute: 1 to 4, now 2',
    );
    expect(text(shown)).toContain('Channels ■ Act now 1 of 3 east is paused');
    expect(text(shown)).toContain('One light needs a look.');
    expect(shown).toMatch(/<svg[^>]*aria-hidden="true"/);
  });

  test('says who did what, to whom and why', () => {
    expect(text(shown)).toContain('ada Credited account demo: $250.00 invoice 7');
    expect(shown).toContain('href="/console/accounts/demo"');
  });

  test('says apart what upstreams, clients and we refused and failed, also of a green light', () => {
    const causes = { upstream: 3, client: 2, us: 0 };
    const lights: Now['lights'] = [
      { name: 'creates', grade: 'ok', figure: '12 / min', causes, minutes: [] },
      { name: 'ends', grade: 'ok', figure: '9 / min', causes, minutes: [] },
    ];
    const told = text(renderToString(h(NowView, { now: { ...now, lights }, acts })));

    expect(told).toContain('12 / min orders are taken Refused in ten minutes: 3 by upstreams, 2 by clients, 0 by us');
    expect(told).toContain('Failed in ten minutes: 3 by upstreams, 2 by clients, 0 by operators');
  });

  test('names the models without a channel, their endpoints, and why', () => {
    const unserved = [
      { models: ['Alpha-H3', 'Beta'], more: 0, endpoints: ['video.generation'], why: 'east is paused by ada' },
      { models: ['chat-1'], more: 290, endpoints: ['chat', 'responses'], why: 'west is disabled' },
    ];
    const light = { name: 'channels', grade: 'fail', figure: '0 of 1', why: 'no channel serves 293 models' } as const;
    const told = text(
      renderToString(h(NowView, { now: { ...now, lights: [{ ...light, minutes: [], unserved }] }, acts })),
    );

    expect(told).toContain('no channel serves 293 models Alpha-H3, Beta (video.generation): east is paused by ada');
    expect(told).toContain('chat-1 and 290 more (chat, responses): west is disabled');
  });

  test('says of a light that it recovers', () => {
    const light = { name: 'creates', grade: 'warn', figure: '9 / min', why: 'none of it', minutes: [] } as const;
    const told = text(
      renderToString(h(NowView, { now: { ...now, lights: [{ ...light, isRecovering: true }] }, acts })),
    );

    expect(told).toContain('Creates ▲ Recovering 9 / min none of it');
  });

  test.each([
    [{ answeredAt: Date.UTC(2026, 0, 1, 3, 12, 45) }, /It answered last at 1 Jan 2026, \d\d:\d\d:45\./],
    [{}, /It has not answered since this gateway started\./],
  ])('says that the tasks service is away, and shows no figure of it: %j', (tasksAway, since) => {
    const { unfinished: _, ...without } = now;
    const told = text(renderToString(h(NowView, { now: { ...without, tasksAway }, acts })));

    expect(told).toMatch(/The tasks service does not answer, so its figures are missing\./);
    expect(told).toMatch(since);
    expect(told).toContain('Unfinished tasks not known');
  });

  test('names a service that does not answer', () => {
    expect(text(shown)).toContain('✕ media not reachable');
  });
});

const list: AttentionList = {
  items: [
    {
      id: 'task_1',
      isJob: false,
      since: 0,
      reason: 'overrun',
      detail: 'usage far above the hold',
      accountId: 'demo',
      model: 'Alpha-H3',
      channel: 'east',
      state: 'completed',
      held: usd('0.5'),
      decisions: [
        { resolution: 'completed', charge: usd('4.2') },
        { resolution: 'retry', refusedBecause: 'the usage is not known' },
      ],
    },
  ],
  hasMore: false,
};

describe('attention', () => {
  const view = (changes: Partial<AttentionViewProps>, open = ''): string => {
    const props = { list, canDecide: true, you: 'ada', open, onChanged: () => undefined };
    return renderToString(h(AttentionView, { ...props, ...changes }));
  };

  test('lists what waits with its reason, account, model, channel and held money', () => {
    expect(text(view({}))).toMatch(/Usage far above the hold .* task_1 Task · demo · Alpha-H3 · east · \$0\.50 held/);
  });

  test('says what each decision does to the money, and why one cannot be made', () => {
    const shown = text(view({}, 'task_1'));

    expect(shown).toContain('The work was done Charges $4.20 and returns nothing.');
    expect(shown).toContain('Try again the usage is not known');
  });

  test('a viewer sees the decisions disabled, with the role that they need', () => {
    const shown = view({ canDecide: false }, 'task_1');

    expect(shown).toContain('<fieldset disabled aria-describedby="may-not-decide">');
    expect(text(shown)).toContain('You need the role operator to ');
  });

  test('lets several entries of the queue be chosen, by who may decide', () => {
    expect(view({})).toMatch(/<label class="choose".*Choose task_1.*<input type="checkbox"/);
    expect(view({ canDecide: false })).not.toContain('class="choose"');
  });

  test('says that the queue is empty', () => {
    expect(text(view({ list: { items: [], hasMore: false } }))).toContain('Nothing waits for a decision.');
  });
});

const NO_COUNTS = {
  ...{ accepted: 0, refused: 0, unknown: 0, completed: 0, failed: 0, failedPolls: 0 },
  ...{ answerMsP50: 0, answerMsP95: 0 },
};
const row: ChannelRow = {
  channel: {
    ...{ id: 'east', adapter: 'openai', upstreamAccount: 'main', enabled: true, circuit: 'closed' },
    ...{ inFlight: 3, inFlightLimit: 10, requestsPerMinute: 60, priority: 1, weight: 1 },
    ...{ models: ['Alpha-H3'], endpoints: ['video.generation'] },
    pause: { channel: 'east', at: '1970-01-01T00:00:00Z', actor: 'ada', reason: 'maintenance' },
  },
  isRelay: false,
  hour: {
    channel: 'east',
    minutes: [
      { ...NO_COUNTS, minute: '1970-01-01T00:00:00Z', accepted: 100, refused: 4, completed: 110 },
      { ...NO_COUNTS, minute: '1970-01-01T00:01:00Z', accepted: 18, unknown: 1, failedPolls: 7 },
    ],
    ...{ answerMsP50: 420, answerMsP95: 1900, lastError: 'HTTP 503', lastErrorAt: '1970-01-01T00:00:00Z' },
  },
};
const { channel } = row;

describe('channels', () => {
  const view = (changes: { readonly canOperate?: boolean }): string =>
    renderToString(
      h(ChannelsView, { channels: [row], canOperate: true, acts, onChanged: () => undefined, ...changes }),
    );

  test('says the hour of a channel in words', () => {
    const shown = text(view({}));

    expect(shown).toContain('half within 420 ms, 95 % within 1.9 s');
    expect(shown).toContain('118 accepted, 4 refused, 1 outcome unknown');
    expect(shown).toContain('110 completed; 7 failed polls');
    expect(shown).toContain('HTTP 503');
  });

  test('says who paused it and why, and offers to resume it', () => {
    expect(text(view({}))).toMatch(/Paused by ada .*: maintenance .* Resume east/);
  });

  test('a viewer can do nothing, and is told the role that could', () => {
    const shown = view({ canOperate: false });

    expect(shown.match(/<button[^>]*disabled/g)).toHaveLength(2);
    expect(text(shown)).toContain('You need the role operator to ');
  });

  test.each([
    [{}, 'paused'],
    [{ enabled: false }, 'disabled'],
    [{ pause: undefined }, 'in_use'],
    [{ pause: undefined, circuit: 'open' }, 'left_alone'],
    [{ pause: undefined, circuit: 'half_open' }, 'being_tried'],
  ] as const)('with %j a channel is %s', (changes, standing) => {
    expect(readStanding({ ...channel, ...changes } as typeof channel)).toBe(standing);
  });

  test('knows the models that stop when a channel is paused', () => {
    const { pause: _pause, ...unpaused } = { ...channel, id: 'west', models: ['Alpha-H3', 'Beta-V1'] };
    const open = { ...row, channel: unpaused };

    expect(modelsOfItAlone(open, [open, row])).toEqual(['Alpha-H3', 'Beta-V1']);
    expect(modelsOfItAlone(row, [open, row])).toEqual([]);
  });

  test('have the margins of the last 24 hours, to the end of the running one', () => {
    expect(toLastDay(Date.UTC(2026, 0, 2, 10, 20))).toEqual({
      ...{ from: '2026-01-01T11:00:00.000Z', to: '2026-01-02T11:00:00.000Z' },
    });
  });

  test('have the prices in use of their models, and no others', () => {
    const price = (key: string, current: boolean) => ({ key, current, version: 1, sinceMs: '3', termsJson: '{}' });
    const all = [
      ...[price('Alpha-H3', true), price('Alpha-H3__regeneration', true)],
      ...[price('Alpha-H3', false), price('Gamma', true)],
    ];

    expect(listPrices(all, ['Alpha-H3']).map(({ key }) => key)).toEqual(['Alpha-H3', 'Alpha-H3__regeneration']);
  });
});

describe('the queue', () => {
  type Queue = RpcAnswer<'tasks.QueueService/ListQueue'>;
  const shared = {
    kind: 'TASK_KIND_GENERATION',
    model: 'fast',
    class: 'QUEUE_CLASS_BATCH',
    ...{ waiting: '7', oldestSince: '1970-01-01T00:00:00Z' },
  } as const;
  const scheduled: Queue['lanes'][number] = {
    kind: 'TASK_KIND_UNSPECIFIED',
    class: 'QUEUE_CLASS_UNSPECIFIED',
    reason: 'QUEUE_REASON_SCHEDULED',
    ...{ model: '', waiting: '1', held: false, startsPerMinute: 0, channels: [] },
  };
  const queue: Queue = {
    lanes: [
      {
        ...shared,
        reason: 'QUEUE_REASON_HELD',
        ...{ held: true, startsPerMinute: 2.25 },
        channels: [{ id: 'main', inFlight: '3', inFlightLimit: '4' }],
      },
      scheduled,
    ],
    accounts: [
      { ...shared, accountId: 'acme', weight: 3, share: 0.75, held: false, reason: 'QUEUE_REASON_CHANNEL_LIMIT' },
    ],
    ...{ hasMore: false, total: '8', totalLimit: '100' },
  };
  const show = (changes: Partial<Queue> = {}, canOperate = true): string =>
    renderToString(h(WaitingView, { queue: { ...queue, ...changes }, acts, canOperate, onChanged: () => undefined }));

  test('shows the lanes and the accounts with the reason, and what an operator can do', () => {
    const shown = text(show());

    expect(shown).toContain('Tasks that wait for a channel: 8 of at most 100.');
    expect(shown).toMatch(/fast generation batch 7 .* 2\.3 main 3 of 4 held by an operator Release fast/);
    expect(shown).toMatch(/at their time 1 .* 0\.0 its time has not come/);
    expect(shown).toMatch(
      /acme fast generation batch 7 .* 3 75 % every channel is at a limit Set weight acme Hold acme Cancel acme/,
    );
  });

  test('tells a viewer which role a decision needs', () => {
    const shown = show({}, false);

    expect(text(shown)).toContain('You need the role operator to weigh, hold and cancel what waits.');
    expect(shown.match(/<button[^>]*disabled/g)).toHaveLength(4);
  });

  test('says that nothing waits', () => {
    expect(text(show({ lanes: [], accounts: [], total: '0' }))).toContain('No task waits for a channel.');
  });
});
