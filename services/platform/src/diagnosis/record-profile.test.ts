import { expect, test } from '@jest/globals';
import { systemClock } from '../clock.ts';
import { profileRecorder } from './record-profile.ts';

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString();
}

/** The process that runs the tests has a large heap. */
const HEAP_TIMEOUT_MS = 120_000;
const forever = new AbortController().signal;

test('a CPU profile names the functions that used the processor', async () => {
  const recording = bytesOf(profileRecorder(systemClock, () => true).record({ kind: 'cpu', seconds: 1 }, forever));
  function burnTheProcessor(): number {
    let sum = 0;
    for (let n = 0; n < 3_000_000; n += 1) sum += Math.sqrt(n);
    return sum;
  }
  await systemClock.sleep(50);
  for (let round = 0; round < 20; round += 1) burnTheProcessor();
  const profile = JSON.parse(await recording) as { nodes: { callFrame: { functionName: string } }[] };

  expect(profile.nodes.map(({ callFrame }) => callFrame.functionName)).toContain('burnTheProcessor');
});

test(
  'a heap snapshot is a whole file in pieces',
  async () => {
    let largest = 0;
    let [first, last] = ['', ''];
    for await (const piece of profileRecorder(systemClock, () => true).record({ kind: 'heap' }, forever)) {
      largest = Math.max(largest, piece.length);
      last = Buffer.from(piece).toString().trimEnd() || last;
      if (first === '') first = last;
    }

    expect(largest).toBeLessThanOrEqual(256 * 1024);
    expect(first).toMatch(/^\{"snapshot":/);
    expect(last).toMatch(/\}$/);
  },
  HEAP_TIMEOUT_MS,
);

test('one process records one profile at a time, and the next one after it', async () => {
  const over = Promise.withResolvers<undefined>();
  const recorder = profileRecorder({ sleep: () => over.promise }, () => true);
  const first = bytesOf(recorder.record({ kind: 'cpu', seconds: 60 }, forever));

  await expect(bytesOf(recorder.record({ kind: 'heap' }, forever))).rejects.toMatchObject({
    reason: 'profile_running',
  });

  over.resolve(undefined);
  expect(await first).toContain('nodes');
  expect(await bytesOf(recorder.record({ kind: 'cpu', seconds: 1 }, forever))).toContain('nodes');
});

test('a recording asks each time whether profiles are allowed', async () => {
  let isAllowed = false;
  const recorder = profileRecorder({ sleep: async () => undefined }, () => isAllowed);
  const record = (): Promise<string> => bytesOf(recorder.record({ kind: 'cpu', seconds: 1 }, forever));

  await expect(record()).rejects.toMatchObject({ kind: 'forbidden', reason: 'profiles_not_allowed' });
  isAllowed = true;
  expect(await record()).toContain('nodes');
});

test('a recording whose caller has left ends at once, and another one may begin', async () => {
  const recorder = profileRecorder(systemClock, () => true);
  const gone = new AbortController();
  const left = bytesOf(recorder.record({ kind: 'cpu', seconds: 60 }, gone.signal));
  gone.abort(new Error('the caller has left'));

  await expect(left).rejects.toThrow('the caller has left');
  expect(await bytesOf(recorder.record({ kind: 'cpu', seconds: 1 }, forever))).toContain('nodes');
});
