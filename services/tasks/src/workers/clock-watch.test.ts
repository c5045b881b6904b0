import { expect, test } from '@jest/globals';
import { watchClocks } from './process-liveness.ts';
import type { ClockWatch } from './process-liveness.ts';

const START = 1_000_000;
const SECOND_MS = 1000;

function watchFor(seconds: number): ClockWatch {
  const clocks = watchClocks();
  for (let second = 0; second <= seconds; second += 1) clocks.noteOwn(START + second * SECOND_MS);
  return clocks;
}

test.each<[string, number]>([
  ['a heartbeat later', SECOND_MS],
  ['after a rest of five seconds and a slow database', 19_000],
  ['after a small correction', -4000],
])('the clock of a process is trusted %s', (_when, ms) => {
  const clocks = watchFor(3);
  const now = START + 3 * SECOND_MS + ms;

  expect(clocks.areTrusted(now)).toBe(true);
  clocks.noteOwn(now);
  expect(clocks.areTrusted(now)).toBe(true);
});

test.each<[string, number]>([
  ['forward', 60_000],
  ['back', -60_000],
])('a clock that was set %s is noticed at once, and never trusted again', (_how, ms) => {
  const clocks = watchFor(3);
  const now = START + 3 * SECOND_MS + ms;

  expect(clocks.areTrusted(now)).toBe(false);

  for (let second = 1; second < 100; second += 1) clocks.noteOwn(now + second * SECOND_MS);
  expect(clocks.areTrusted(now + 100 * SECOND_MS)).toBe(false);
});

test.each<[string, (clocks: ClockWatch, now: number) => void, boolean]>([
  [
    'a new heartbeat from between the looks',
    (clocks, now) => {
      clocks.noteNew(now - 500, { after: now - SECOND_MS, now, wasLate: true });
    },
    true,
  ],
  [
    'a new heartbeat of a clock that is ahead',
    (clocks, now) => {
      clocks.noteNew(now + 60_000, { after: now - SECOND_MS, now, wasLate: false });
    },
    false,
  ],
  [
    'a heartbeat that waited for a slow database',
    (clocks, now) => {
      expect(clocks.noteNew(now - 60_000, { after: now - SECOND_MS, now, wasLate: false })).toBe(true);
      expect(clocks.noteNew(now - 500, { after: now - SECOND_MS, now, wasLate: true })).toBe(false);
    },
    true,
  ],
  [
    'a second new heartbeat of a clock that is behind',
    (clocks, now) => {
      clocks.noteNew(now - 60_000, { after: now - SECOND_MS, now, wasLate: false });
      clocks.noteNew(now - 59_000, { after: now - SECOND_MS, now, wasLate: true });
    },
    false,
  ],
  [
    'an old heartbeat of a process that is dead',
    (clocks, now) => {
      clocks.noteOld(now - 3_600_000, now);
    },
    true,
  ],
  [
    'an old heartbeat from the future',
    (clocks, now) => {
      clocks.noteOld(now + 60_000, now);
    },
    false,
  ],
])('%s', (_what, note, areTrusted) => {
  const clocks = watchFor(3);
  const now = START + 4 * SECOND_MS;

  note(clocks, now);

  expect(clocks.areTrusted(now)).toBe(areTrusted);
});
