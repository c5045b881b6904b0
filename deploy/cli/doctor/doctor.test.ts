import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { DiagnoseResponseSchema, Grade } from '@reelgate/proto/diagnosis/v1/diagnosis_service';
import { PROGRAM_VERSION } from '../../program/version.ts';
import type { DiagnosedService } from '../diagnosed-services.ts';
import { newSecretHider } from '../commands/doctor-commands.ts';
import { askService } from './ask-service.ts';
import type { AskedBy } from './ask-service.ts';
import { compareClocks } from './compare-clocks.ts';
import type { ClockReading } from './compare-clocks.ts';
import { newDeadline } from './deadline.ts';
import { findWorstGrade, countLines, newLineFormat } from './doctor-line.ts';
import type { DoctorLine } from './doctor-line.ts';

const NEVER = new Promise<never>(() => undefined);

interface ServiceOptions {
  readonly aheadMs?: number;
  readonly wayMs?: number;
  /** The addresses of its name. */
  readonly replicas?: readonly string[];
  /** An address at which no process answers. */
  readonly hung?: string;
  readonly version?: string;
  readonly ready?: boolean;
}

/** A service whose clock differs from that of this machine, and whose answer takes some time. */
function service(name: 'tasks' | 'billing', options: ServiceOptions = {}) {
  const { aheadMs = 0, wayMs = 0, replicas = ['10.0.0.1'], hung, version = PROGRAM_VERSION, ready = true } = options;
  const clock = fakeClock();
  const client = (host: string) => ({
    diagnose: async () => {
      if (host === hung) return NEVER;
      await clock.advance(wayMs / 2);
      const answer = create(DiagnoseResponseSchema, {
        service: name,
        process: `host:${host}`,
        version,
        ready,
        at: timestampFromMs(clock.now() + aheadMs),
        startedAt: timestampFromMs(clock.now()),
        findings: [{ part: 'database', grade: Grade.FAIL, detail: 'does not answer', advice: 'start it' }],
      });
      await clock.advance(wayMs / 2);
      return answer;
    },
  });
  const diagnosed = {
    name,
    address: `${name}.example:9101`,
    hosts: [{ host: `${name}.example`, port: 9101 }],
    client: client(replicas[0]!),
    connectReplica: ({ host }: { readonly host: string }) => client(host),
  } as unknown as DiagnosedService;
  const lookUp: AskedBy['lookUp'] = async () => replicas.map((address) => ({ address, family: 4 }));
  return { clock, diagnosed, lookUp };
}

/** What the doctor says about a service, and the clocks that it reads. */
async function asked({ clock, diagnosed, lookUp }: ReturnType<typeof service>, by: Partial<AskedBy> = {}) {
  const lines: DoctorLine[] = [];
  const ofClocks: DoctorLine[] = [];
  const clocks: Promise<readonly ClockReading[]> = askService(diagnosed, {
    deadline: newDeadline(clock, clock.now()),
    report: (...more) => void lines.push(...more),
    reportClock: (...more) => void ofClocks.push(...more),
    lookUp,
    ...by,
  });
  return { lines, ofClocks, clocks };
}

async function answered(from: ReturnType<typeof service>) {
  const told = await asked(from);
  return { ...told, clocks: await told.clocks };
}

const brief = ({ part, grade, detail }: DoctorLine) => [part, grade, detail];

test.each<[number, string, string]>([
  [0, 'ok', 'agrees with this machine, to 1 ms'],
  [-900, 'ok', 'agrees with this machine, to 900 ms'],
  [5000, 'warn', 'is 5.0 s ahead of this machine'],
  [-60_000, 'fail', 'is 60.0 s behind this machine'],
])('a clock that is %i ms ahead is %s', async (aheadMs, grade, detail) => {
  const { ofClocks } = await answered(service('tasks', { aheadMs }));

  expect(ofClocks.map(brief)).toEqual([['tasks (host:10.0.0.1)', grade, detail]]);
});

test('the time of an answer on its way is no difference of clocks', async () => {
  expect((await answered(service('tasks', { aheadMs: 0, wayMs: 6000 }))).ofClocks[0]?.grade).toBe('ok');
  expect((await answered(service('tasks', { aheadMs: 60_000, wayMs: 6000 }))).ofClocks[0]?.grade).toBe('fail');
});

test('the clocks of the services are compared with one another', async () => {
  const all = [service('tasks', { aheadMs: 900 }), service('billing', { aheadMs: -900 })];
  const clocks = (await Promise.all(all.map(answered))).flatMap((one) => one.clocks);

  expect(compareClocks(clocks).map(brief)).toEqual([
    ['between the services', 'warn', 'tasks (host:10.0.0.1) is 1.8 s ahead of billing (host:10.0.0.1)'],
  ]);
  expect(compareClocks(clocks.slice(0, 1))).toEqual([]);
});

test('each replica behind a name is asked at once, and one that hangs hides no other', async () => {
  const replicas = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
  const hanging = service('tasks', { replicas, hung: '10.0.0.2' });
  const { lines, clocks } = await asked(hanging, { connect: async () => true });
  // Each fake process lets time pass while it answers.
  for (let replica = 0; replica < replicas.length; replica += 1) await hanging.clock.advance(0);

  const subjects = (): readonly string[] => [...new Set(lines.map(({ subject }) => subject))].toSorted();
  expect(subjects()).toEqual(['tasks (host:10.0.0.1)', 'tasks (host:10.0.0.3)']);

  await hanging.clock.advance(5000);
  await hanging.clock.advance(5000);
  await clocks;
  expect(lines.at(-1)).toEqual({
    subject: 'tasks',
    part: '',
    grade: 'fail',
    detail: 'the process at 10.0.0.2:9101 accepts connections and gave no answer within 8.0 s',
    advice: expect.stringMatching(/^it hangs: .* restart it$/),
  });
});

test('addresses of one process are one replica, and more replicas than can be asked are counted', async () => {
  const twice = await answered(service('tasks', { replicas: ['10.0.0.1', '10.0.0.1'] }));
  const many = await answered(service('tasks', { replicas: Array.from({ length: 20 }, (_, at) => `10.0.0.${at}`) }));

  expect(twice.lines).toHaveLength(2);
  expect(new Set(many.lines.map(({ subject }) => subject)).size).toBe(17);
  expect(many.lines).toContainEqual(
    expect.objectContaining({ grade: 'warn', detail: '4 more replicas at tasks.example:9101 were not asked' }),
  );
});

test('a name that does not resolve has a line, and so has a name server that does not answer', async () => {
  const unknown = service('tasks');
  const lookUp: AskedBy['lookUp'] = async () => {
    throw Object.assign(new Error('getaddrinfo ENOTFOUND tasks.example'), { code: 'ENOTFOUND' });
  };
  const { lines, clocks } = await asked(unknown, { lookUp });
  await clocks;
  expect(lines).toEqual([
    {
      subject: 'tasks',
      part: '',
      grade: 'fail',
      detail: 'the name tasks.example does not resolve: getaddrinfo ENOTFOUND tasks.example',
      advice: 'check that name in gateway.services.tasks, and the name server of this machine',
    },
  ]);

  const hanging = service('tasks');
  const late = await asked(hanging, { lookUp: () => NEVER });
  await hanging.clock.advance(8000);
  await late.clocks;
  expect(late.lines).toMatchObject([{ grade: 'fail', detail: 'the name tasks.example was not resolved within 8.0 s' }]);
});

test('an address that accepts no connection is told from a process that hangs', async () => {
  const away = service('tasks', { hung: '10.0.0.1' });
  const { lines, clocks } = await asked(away, { connect: async () => false });
  await away.clock.advance(0);
  await away.clock.advance(4000);
  await away.clock.advance(4000);
  await clocks;

  expect(lines).toMatchObject([
    {
      detail: 'tasks.example:9101 gave no answer and accepted no connection within 8.0 s',
      advice: expect.stringContaining('network'),
    },
  ]);
});

test('a process of another release, or one that is not ready, is named', async () => {
  const older = await answered(service('tasks', { version: '0.0.1' }));
  const waiting = await answered(service('tasks', { ready: false }));

  expect(older.lines[0]).toMatchObject({ grade: 'warn' });
  expect(waiting.lines[0]).toMatchObject({ grade: 'fail' });
});

test.each<[string, Problem, RegExp, RegExp]>([
  [
    'is away',
    serviceUnavailable(
      new Error(
        '[unavailable] round_robin: No connection established. Last error: No connection established. ' +
          'Last error: Error: connect ECONNREFUSED 127.0.0.1:1. Resolution note: ',
      ),
    ),
    /^does not answer at tasks.example:9101: connect ECONNREFUSED 127.0.0.1:1$/,
    /^start it/,
  ],
  [
    'starts',
    serviceUnavailable(new Error('[unavailable] this replica of the service starts; call again')),
    /: \[unavailable\] this replica of the service starts; call again$/,
    /its log names what its start waits for/,
  ],
  [
    'knows another key',
    new Problem({ kind: 'unauthenticated', reason: 'invalid_caller_key', message: 'send the key' }),
    /does not know the key/,
    /signing_key/,
  ],
])('a service that %s has a line with what to do', async (_what, problem, detail, advice) => {
  const refusing = service('tasks');
  const client = { diagnose: () => Promise.reject(problem) };
  const { lines } = await answered({ ...refusing, diagnosed: { ...refusing.diagnosed, client } as never });

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

test('no secret of the configuration is shown, wherever it stands', () => {
  const hide = newSecretHider({
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
    { subject: 'tasks (a-pod-with-a-long-name-1234:1)', part: '', grade: 'warn', detail: 'is old', advice: '' },
    { subject: 'ledger', part: '', grade: 'ok', detail: '3 entries balance', advice: '' },
  ] as const;

  expect(lines.map(newLineFormat())).toEqual([
    'fail  tasks                     database: does not answer\n                                do: start it',
    'warn  tasks (a-pod-with-a-long-name-1234:1)  is old',
    'ok    ledger                                 3 entries balance',
  ]);
  expect(countLines(lines)).toBe('1 fail, 1 warn, 1 ok');
  expect(findWorstGrade(lines)).toBe('fail');
});
