import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { DOCTOR_MS_MAX } from './deadline.ts';
import { needsSupervision, readBegin, superviseDoctor } from './supervise-doctor.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-supervised-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Supervises a script, which finds its own process id in the file `pid`. */
function supervise(script: string, clock: Parameters<typeof superviseDoctor>[0]['clock'], args = ['doctor']) {
  const main = path.join(folder, 'main.mjs');
  const pid = path.join(folder, 'pid');
  rmSync(pid, { force: true });
  writeFileSync(
    main,
    `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(pid)}, String(process.pid));\n${script}`,
  );
  return superviseDoctor({ args, main, environment: process.env, begunAt: clock.now(), clock });
}

describe('a supervised doctor', () => {
  test('ends with its own exit code, although something keeps its process', async () => {
    expect(await supervise('process.send(1); setInterval(() => undefined, 1000);', systemClock)).toBe(1);
    expect(await supervise('process.send(0); for (;;);', systemClock)).toBe(0);
  });

  test('that dies gives its exit code, and 2 if a signal ended it', async () => {
    expect(await supervise('process.exit(7);', systemClock)).toBe(7);
    expect(await supervise("process.kill(process.pid, 'SIGKILL');", systemClock)).toBe(2);
  });

  test.each([
    [['doctor'], /^fail {2}doctor {2}was ended, because it hung itself\n {6}do: /],
    [['doctor', '--json'], /^\{"ok":false,"worst":"fail","lines":\[\{"subject":"doctor",/],
  ])('that hangs is ended with a line within the time of %j', async (args, said) => {
    const clock = fakeClock();
    const printed = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    const code = supervise('for (;;);', clock, args);
    await clock.advance(DOCTOR_MS_MAX - 1);

    expect(await code).toBe(2);
    expect(printed.mock.calls).toEqual([[expect.stringMatching(said)]]);
  });

  test('learns when the command began, and is not supervised again', async () => {
    const clock = fakeClock();
    const begunAt = clock.now();
    const script = `process.send(Number(process.env.REELGATE_DOCTOR_BEGUN_AT === '${begunAt}'));`;

    expect(await supervise(script, clock)).toBe(1);
    expect(readBegin({ REELGATE_DOCTOR_BEGUN_AT: String(begunAt) })).toBe(begunAt);
    expect(readBegin({ REELGATE_DOCTOR_BEGUN_AT: 'soon' })).toBeUndefined();
    expect(needsSupervision(['--json', 'doctor'], {})).toBe(true);
    expect(needsSupervision(['doctor'], { REELGATE_DOCTOR_BEGUN_AT: String(begunAt) })).toBe(false);
    expect(needsSupervision(['task', 'show', 'doctor'], {})).toBe(false);
  });
});
