import { expect, test } from '@jest/globals';
import { inTime } from '@reelgate/platform/testing/bounded-waits';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { DEADLY, ENDLESS, runBatch } from './run-batch.ts';

const SILENCE_MS_MAX = 60_000;
const HEAP_MB = 20;
const REPORT = 'console.log(JSON.stringify({ seed: 7 }));';
const BROKEN = "console.log(JSON.stringify({ seed: 8, rule: 'a rule' }));";
const FOR_EVER = 'setInterval(() => undefined, 1000);';

/** Runs a program in place of the simulation. `heard` resolves at its first report. */
function startBatch(program: string, flags: readonly string[] = []) {
  const clock = fakeClock();
  const [stop, kill] = [new AbortController(), new AbortController()];
  const { promise: heard, resolve } = Promise.withResolvers<undefined>();
  const seeds: number[] = [];
  const batch = runBatch({
    ...{ clock, stop: stop.signal, kill: kill.signal, silenceMsMax: SILENCE_MS_MAX },
    words: [...flags, '-e', program],
    onReport: ({ seed }) => {
      seeds.push(seed);
      resolve(undefined);
    },
  });
  return { clock, stop, kill, seeds, heard: inTime(heard), batch: inTime(batch) };
}

test('a batch that ends, or ends at a broken rule, gives its reports and is no fault', async () => {
  const whole = startBatch(REPORT);
  const broken = startBatch(`${REPORT}${BROKEN}process.exit(1)`);

  expect([await whole.batch, await broken.batch]).toEqual([undefined, undefined]);
  expect([whole.seeds, broken.seeds]).toEqual([[7], [7, 8]]);
});

test('a seed that does not end in real time is a fault, and its process is ended', async () => {
  const { clock, heard, batch } = startBatch(REPORT + FOR_EVER);
  await heard;

  await clock.advance(SILENCE_MS_MAX);

  expect(await batch).toEqual({ rule: ENDLESS, detail: `it did not end within ${SILENCE_MS_MAX} ms` });
});

test.each<[string, string, readonly string[], RegExp]>([
  [
    'runs out of memory',
    'const kept = []; for (;;) kept.push(new Array(1000).fill(1))',
    [`--max-old-space-size=${HEAP_MB}`],
    /heap/,
  ],
  ['throws', "throw new Error('a fault of the simulation')", [], /exit code 1: .*a fault of the simulation/s],
])('a process that %s is a fault', async (_what, program, flags, detail) => {
  const fault = await startBatch(REPORT + program, flags).batch;

  expect(fault).toEqual({ rule: DEADLY, detail: expect.stringMatching(detail) });
});

test('a batch that is stopped ends after its seed, and is no fault', async () => {
  const { stop, heard, batch, seeds } = startBatch(`process.on('SIGINT', () => process.exit(0));${REPORT}${FOR_EVER}`);
  await heard;

  stop.abort();

  expect(await batch).toBeUndefined();
  expect(seeds).toEqual([7]);
});

test('a batch that is killed ends at once, and is no fault', async () => {
  const { kill, heard, batch } = startBatch(`process.on('SIGINT', () => undefined);${REPORT}${FOR_EVER}`);
  await heard;

  kill.abort();

  expect(await batch).toBeUndefined();
});
