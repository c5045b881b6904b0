import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { DiagnoseResponseSchema, Grade } from '@reelgate/proto/diagnosis/v1/diagnosis_service';
import { PROGRAM_VERSION } from '../../program/version.ts';
import type { DiagnosedService } from '../diagnosed-services.ts';
import { askAll } from './ask-all.ts';
import { askService } from './ask-service.ts';
import { compareClocks } from './compare-clocks.ts';
import { worstOf } from './doctor-line.ts';
import { secretsHidden } from './hide-secrets.ts';
import { linesAsText } from './lines-as-text.ts';

const forever = new AbortController().signal;

/** A service whose clock differs from that of this machine, and whose answer takes some time. */
function service(
  name: 'tasks' | 'billing',
  { aheadMs = 0, wayMs = 0, replicas = 1, version = PROGRAM_VERSION, ready = true } = {},
) {
  const clock = fakeClock();
  let calls = 0;
  const diagnosed = {
    name,
    address: '127.0.0.1:1',
    hosts: Array.from({ length: replicas }, (_, index) => `10.0.0.${String(index + 1)}`),
    client: {
      diagnose: async () => {
        calls += 1;
        await clock.advance(wayMs / 2);
        const answer = create(DiagnoseResponseSchema, {
          service: name,
          process: `host:${String(calls % replicas)}`,
          version,
          ready,
          at: timestampFromMs(clock.now() + aheadMs),
          startedAt: timestampFromMs(clock.now()),
          findings: [{ part: 'database', grade: Grade.FAIL, detail: 'does not answer', advice: 'start it' }],
        });
        await clock.advance(wayMs / 2);
        return answer;
      },
    },
  } as unknown as DiagnosedService;
  return { clock, diagnosed, calls: () => calls };
}

async function clocksOf(...services: readonly ReturnType<typeof service>[]) {
  const all = await Promise.all(services.map(({ diagnosed, clock }) => askService(diagnosed, clock, forever)));
  return compareClocks(all.flatMap(({ clocks }) => clocks)).map(({ part, grade, detail }) => [part, grade, detail]);
}

test.each<[number, string, string]>([
  [0, 'ok', 'agrees with this machine, to 1 ms'],
  [-900, 'ok', 'agrees with this machine, to 900 ms'],
  [5000, 'warn', 'is 5.0 s ahead of this machine'],
  [-60_000, 'fail', 'is 60.0 s behind this machine'],
])('a clock that is %i ms ahead is %s', async (aheadMs, grade, detail) => {
  expect(await clocksOf(service('tasks', { aheadMs }))).toEqual([['tasks (host:0)', grade, detail]]);
});

test('the time of an answer on its way is no difference of clocks', async () => {
  expect((await clocksOf(service('tasks', { aheadMs: 0, wayMs: 8000 })))[0]?.[1]).toBe('ok');
  expect((await clocksOf(service('tasks', { aheadMs: 60_000, wayMs: 8000 })))[0]?.[1]).toBe('fail');
});

test('the clocks of the services are compared with one another', async () => {
  const lines = await clocksOf(service('tasks', { aheadMs: 900 }), service('billing', { aheadMs: -900 }));

  expect(lines.at(-1)).toEqual(['between the services', 'warn', 'tasks (host:0) is 1.8 s ahead of billing (host:0)']);
});

test('each replica behind a name is asked, and each is named', async () => {
  const { diagnosed, clock, calls } = service('tasks', { replicas: 3 });
  const { lines } = await askService(diagnosed, clock, forever);

  expect([...new Set(lines.map(({ subject }) => subject))].toSorted()).toEqual([
    'tasks (host:0)',
    'tasks (host:1)',
    'tasks (host:2)',
  ]);
  expect(calls()).toBeLessThanOrEqual(6);
});

test('a process of another release, or one that is not ready, is named', async () => {
  const older = service('tasks', { version: '0.0.1' });
  const waiting = service('tasks', { ready: false });

  expect((await askService(older.diagnosed, older.clock, forever)).lines[0]).toMatchObject({ grade: 'warn' });
  expect((await askService(waiting.diagnosed, waiting.clock, forever)).lines[0]).toMatchObject({ grade: 'fail' });
});

test.each<[string, Problem, RegExp, RegExp]>([
  ['is away', serviceUnavailable(new Error('connect ECONNREFUSED')), /does not answer at 127.0.0.1:1/, /^start it/],
  [
    'knows another key',
    new Problem({ kind: 'unauthenticated', reason: 'invalid_caller_key', message: 'send the key' }),
    /does not know the key/,
    /signing_key/,
  ],
])('a service that %s has a line with what to do', async (_what, problem, detail, advice) => {
  const { diagnosed, clock } = service('tasks');
  const failing = { ...diagnosed, client: { diagnose: () => Promise.reject(problem) } } as never;
  const { lines } = await askService(failing, clock, forever);

  expect(lines).toEqual([
    {
      subject: 'tasks',
      part: '',
      grade: 'fail',
      detail: expect.stringMatching(detail),
      advice: expect.stringMatching(advice),
    },
  ]);
});

test('a question that hangs or throws is a line, and delays no other', async () => {
  const clock = fakeClock();
  const question = (subject: string, ask: () => Promise<never[]>) => ({ subject, msMax: 5000, advice: 'look', ask });
  const asked = askAll(
    [question('hangs', () => new Promise(() => undefined)), question('throws', () => Promise.reject(new Error('no')))],
    clock,
  );
  await clock.advance(5000);

  expect(await asked).toEqual([
    { subject: 'hangs', part: '', grade: 'fail', detail: 'gave no answer within 5 s', advice: 'look' },
    { subject: 'throws', part: '', grade: 'fail', detail: 'no', advice: 'look' },
  ]);
});

test('no secret of the configuration is shown, wherever it stands', () => {
  const hide = secretsHidden({
    signing_key: 'signing-key-1',
    channels: [{ id: 'alpha', api_key: 'sk-alpha-1' }],
    tasks: { database: 'postgres://role:hunter2-long@db/tasks' },
    bus: { servers: ['nats://user:nats-password@nats:4222'] },
    accounts: [{ id: 'demo', tokens: [{ key: 'sk-demo-1', name: 'first' }] }],
  });

  expect(hide('sk-alpha-1 signing-key-1 hunter2-long nats-password sk-demo-1 alpha demo first')).toBe(
    '*** *** *** *** *** alpha demo first',
  );
});

test('the text has a line for each finding, what to do below it, and the numbers', () => {
  const lines = [
    { subject: 'tasks', part: 'database', grade: 'fail', detail: 'does\nnot answer', advice: 'start it' },
    { subject: 'ledger', part: '', grade: 'ok', detail: '3 entries balance', advice: '' },
  ] as const;

  expect(linesAsText(lines).split('\n')).toEqual([
    'fail  tasks   database: does not answer',
    '              do: start it',
    'ok    ledger  3 entries balance',
    '',
    '1 fail, 0 warn, 1 ok',
  ]);
  expect(worstOf(lines)).toBe('fail');
});
