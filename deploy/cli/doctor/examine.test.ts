import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { DiagnoseResponseSchema } from '@reelgate/proto/diagnosis/v1/diagnosis_service';
import type { Services } from '../connect-services.ts';
import type { DiagnosedService } from '../diagnosed-services.ts';
import { DOCTOR_MS_MAX, newDeadline } from './deadline.ts';
import type { DoctorLine } from './doctor-line.ts';
import { examine } from './examine.ts';

const NEVER = new Promise<never>(() => undefined);
const CHANNEL = { id: 'alpha', enabled: true, circuit: 'closed' };
const LEDGER = {
  ok: true,
  entries: 2n,
  sums: {},
  faults: [],
  tooLarge: false,
  openHoldTaskIds: [],
  openCalls: 0n,
  overdueCalls: 0n,
};

interface World {
  readonly diagnose?: (name: string) => Promise<unknown>;
  readonly listChannels?: () => Promise<unknown>;
  readonly testChannel?: (id: string) => Promise<unknown>;
  readonly verifyLedger?: () => Promise<unknown>;
  readonly classifyHolds?: () => Promise<unknown>;
}

/** A doctor over services that answer at once, except for what the test changes. */
function begin(world: World = {}, { startMs = 0 } = {}) {
  const clock = fakeClock();
  const begunAt = clock.now() - startMs;
  const told: DoctorLine[] = [];
  const awaited = new Set<string>();
  const service = (name: string): DiagnosedService => {
    const client = {
      diagnose:
        world.diagnose === undefined
          ? async () => answerOf(name, clock.now())
          : async () => (await world.diagnose?.(name)) ?? answerOf(name, clock.now()),
    };
    const hosts = [{ host: '127.0.0.1', port: 1 }];
    return { name, address: '127.0.0.1:1', hosts, client, connectReplica: () => client } as never;
  };
  const services = {
    tasks: {
      listChannels: world.listChannels ?? (async () => ({ channels: [CHANNEL] })),
      testChannel: ({ id }: { readonly id: string }) =>
        world.testChannel?.(id) ?? Promise.resolve({ ok: true, detail: 'the list was read', tookMs: 3n }),
      classifyHolds: world.classifyHolds ?? (async () => ({ finished: [], unknown: [] })),
    },
    accounts: { verifyLedger: world.verifyLedger ?? (async () => LEDGER) },
  } as unknown as Services;
  const result = examine(
    {
      config: { warnings: [], file: { files: ['reelgate.yaml'] } } as never,
      services,
      diagnosed: ['gateway', 'tasks', 'billing', 'media'].map(service),
      deadline: newDeadline(clock, begunAt),
    },
    { report: (...lines) => void told.push(...lines), awaited },
  );
  const isOver = { value: false };
  void result.then(() => (isOver.value = true));
  return { clock, told, awaited, result, isOver: () => isOver.value };
}

function answerOf(service: string, now: number) {
  const at = timestampFromMs(now);
  return create(DiagnoseResponseSchema, { service, process: 'host:1', version: '1', ready: true, at, startedAt: at });
}

const subjects = (lines: readonly DoctorLine[]): string =>
  [...new Set(lines.map(({ subject }) => subject.replace(/ \(.*/, '')))].join(' ');
const last = (lines: readonly DoctorLine[], subject: string): DoctorLine | undefined =>
  lines.findLast((line) => line.subject === subject);

test('a healthy program is examined at once, and the lines have a fixed order', async () => {
  const { result, told, awaited } = begin();
  const lines = await result;

  expect(subjects(lines)).toBe('configuration gateway tasks billing media clock channel alpha ledger');
  expect([...told].toSorted(bySubject)).toEqual([...lines].toSorted(bySubject));
  expect([...awaited]).toEqual([]);
});

function bySubject(one: DoctorLine, other: DoctorLine): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}

test('whatever hangs, every question has a line before the time of the command is over', async () => {
  const hung = () => NEVER;
  const { clock, told, awaited, result, isOver } = begin({
    diagnose: hung,
    listChannels: hung,
    verifyLedger: hung,
  });
  await clock.advance(0);
  expect(subjects(told)).toBe('configuration');
  expect([...awaited]).toEqual(['gateway', 'tasks', 'billing', 'media', 'channels', 'ledger']);

  for (let ms = 0; ms < DOCTOR_MS_MAX && !isOver(); ms += 250) await clock.advance(250);
  expect(isOver()).toBe(true);
  expect(subjects(await result)).toBe('configuration gateway tasks billing media channels ledger');
  expect(last(told, 'ledger')).toMatchObject({
    grade: 'warn',
    advice: expect.stringContaining('reelgate ledger verify'),
  });
  expect(told.filter(({ grade, advice }) => grade !== 'ok' && advice === '')).toEqual([]);
  // Nothing is said twice.
  expect(new Set(told.map(({ subject, part }) => `${subject} ${part}`)).size).toBe(told.length);
});

test.each([0, 3000, 9000])(
  'the time comes from the start of the command, %i ms before the questions',
  async (startMs) => {
    const { clock, isOver } = begin({ diagnose: () => NEVER }, { startMs });
    const leftMs = Math.max(0, DOCTOR_MS_MAX - startMs);
    for (let ms = 0; ms < leftMs; ms += 250) await clock.advance(250);

    expect(isOver()).toBe(true);
  },
);

test('a doctor that started too late to ask says so, and blames no service for it', async () => {
  const { clock, result } = begin({ diagnose: () => NEVER }, { startMs: 7500 });
  await clock.advance(0);
  await clock.advance(500);
  const lines = await result;

  expect(lines[0]).toMatchObject({
    subject: 'doctor',
    grade: 'warn',
    detail: expect.stringContaining('0.5 s are left'),
  });
  expect(last(lines, 'tasks')).toMatchObject({
    detail: '127.0.0.1:1 gave no answer within 0.5 s',
    advice: expect.stringContaining('call again'),
  });
});

test('a clock that is set back gives no more time', async () => {
  const clock = fakeClock();
  const deadline = newDeadline(clock, clock.now() + 3_600_000);

  expect(deadline.leftMs()).toBeLessThan(DOCTOR_MS_MAX);
});

test('one service that hangs delays no line of the others', async () => {
  const { clock, told } = begin({ diagnose: (name) => (name === 'tasks' ? NEVER : Promise.resolve(undefined)) });
  await clock.advance(0);

  expect(subjects(told).split(' ').toSorted().join(' ')).toBe(
    'alpha billing channel clock configuration gateway media',
  );
  await clock.advance(4000);
  expect(last(told, 'ledger')).toMatchObject({ grade: 'ok' });
});

test('one upstream that hangs delays no other channel, and has a line', async () => {
  const { clock, told, result } = begin({
    listChannels: async () => ({ channels: [CHANNEL, { ...CHANNEL, id: 'slow' }] }),
    testChannel: (id) => (id === 'slow' ? NEVER : Promise.resolve({ ok: true, detail: 'read', tookMs: 1n })),
  });
  await clock.advance(0);
  expect(subjects(told)).toContain('channel alpha');
  expect(subjects(told)).not.toContain('channel slow');

  await clock.advance(4000);
  await clock.advance(4000);
  expect((await result).find(({ subject, part }) => subject === 'channel slow' && part === 'test')).toEqual({
    subject: 'channel slow',
    part: 'test',
    grade: 'fail',
    detail: 'had no result within 8.0 s',
    advice: 'reelgate channel test slow',
  });
});

test('the sums of the ledger are told although its holds cannot be compared', async () => {
  const { clock, result } = begin({
    verifyLedger: async () => ({ ...LEDGER, openHoldTaskIds: ['task_1'] }),
    classifyHolds: () => NEVER,
  });
  await clock.advance(0);
  await clock.advance(8000);

  expect((await result).filter(({ subject }) => subject === 'ledger')).toMatchObject([
    { part: '', grade: 'ok', detail: '2 entries balance' },
    { part: 'holds', grade: 'warn', detail: 'open holds were not compared with their tasks: 1' },
  ]);
});

test('a ledger that is too large for the command is no fault, and has the command that reads it', async () => {
  const { result } = begin({ verifyLedger: async () => ({ ...LEDGER, ok: false, tooLarge: true, entries: 100_000n }) });

  expect(last(await result, 'ledger')).toMatchObject({
    grade: 'ok',
    detail: expect.stringContaining('more than 100000'),
    advice: expect.stringMatching(/^reelgate ledger verify/),
  });
});

test('a question that throws is a line', async () => {
  const { result } = begin({ verifyLedger: () => Promise.reject(new Error('no')) });

  expect(last(await result, 'ledger')).toMatchObject({ grade: 'fail', detail: 'no' });
});
