import { expect, test } from '@jest/globals';
import { refusalOf } from '../../testing/order-summary.ts';
import type { WaitPreference } from '../clients/tasks-client.ts';
import { formatAppliedWait, readAnnotations, readPreferredWait, readWaitPreference } from './headers.ts';

const NOT_BEFORE = Date.UTC(2026, 10, 27, 3);

test.each<readonly [string | string[], WaitPreference | undefined]>([
  ['queue=wait', { mode: 'wait' }],
  ['queue=none', { mode: 'none' }],
  ['class=batch', { class: 'batch' }],
  ['start-within=600', { startWithinS: 600 }],
  ['start-within=604800', { startWithinS: 604_800 }],
  ['not-before="2026-11-27T03:00:00Z"', { notBefore: NOT_BEFORE }],
  ['not-before="2026-11-27T04:00:00+01:00"', { notBefore: NOT_BEFORE }],
  [
    'queue=wait, class=interactive,start-within=1 ,not-before="2026-11-27T03:00:00.000Z"',
    { mode: 'wait', class: 'interactive', startWithinS: 1, notBefore: NOT_BEFORE },
  ],
  [['queue=wait', 'class=standard'], { mode: 'wait', class: 'standard' }],
  ['Queue = "wait"', { mode: 'wait' }],
  ['respond-async, queue=none; of=all; why="a, b", class=batch', { mode: 'none', class: 'batch' }],
  ['note="queue=none, class=batch", queue=wait', { mode: 'wait' }],
  ['note="a \\" quote, queue=none", class="ba\\tch"', { class: 'batch' }],
  ['queue=none, queue=wait', { mode: 'none' }],
  [', ,class=batch,', { class: 'batch' }],
])('RFC 7240: %j is understood', (header, expected) => {
  expect(readWaitPreference(header)).toEqual(expected);
});

test.each([
  '',
  'queue',
  'queue=',
  'queue=later',
  'queue=Wait',
  'class=first',
  'start-within=0',
  'start-within=604801',
  'start-within=1.5',
  'start-within=-1',
  'start-within=soon',
  'not-before=2026-11-27T03:00:00Z',
  'not-before="2026-11-27"',
  'not-before="2026-02-30T00:00:00Z"',
  'not-before="2026-11-27 03:00:00"',
  'not-before="1764212400"',
  'note; queue=wait',
  'note="queue=wait',
  'que ue=wait',
  'wait=20',
])('a preference that is unknown or malformed is ignored: %j', (header) => {
  expect(readWaitPreference(header)).toBeUndefined();
});

test.each<readonly [string | undefined, number | undefined]>([
  [undefined, undefined],
  ['wait=20', 20],
  ['wait="20"', 20],
  ['queue=wait, wait=20', 20],
  ['wait=3600', 60],
  ['wait=0', undefined],
  ['note="wait=20"', undefined],
])('a read with %j waits for %p seconds', (header, expected) => {
  expect(readPreferredWait(header)).toBe(expected);
});

test.each<readonly [WaitPreference, string]>([
  [{}, ''],
  [
    { mode: 'wait', class: 'batch', startWithinS: 600, notBefore: NOT_BEFORE },
    'queue=wait, class=batch, start-within=600, not-before="2026-11-27T03:00:00.000Z"',
  ],
])('what was applied is written as it can be read again: %j', (applied, text) => {
  expect(formatAppliedWait(applied)).toBe(text);
  expect(readWaitPreference(text) ?? {}).toEqual(applied);
});

test.each([undefined, 'spring', 'a', 'Team-7/spring_2026.v2:eu', 'x'.repeat(64)])('a label: %j', (label) => {
  expect(readAnnotations(label === undefined ? {} : { 'reelgate-label': label }).label).toBe(label);
});

test.each<[string | string[]]>([
  [''],
  [' '],
  ['two words'],
  ['spring,autumn'],
  [['spring', 'autumn']],
  ['früh'],
  ['a\tb'],
  ['<b>'],
  ['50%'],
  ['x'.repeat(65)],
])('a label that is refused by its name, with what would be right: %j', (label) => {
  expect(refusalOf(() => readAnnotations({ 'reelgate-label': label }))).toMatchObject({
    reason: 'invalid_request',
    field: 'Reelgate-Label',
    message: expect.stringMatching(/^must be 1 to 64 letters.*, such as spring-campaign$/),
  });
});

test('a header of the largest size is read in time that grows with its length', () => {
  expect(readWaitPreference('"\\'.repeat(8000))).toBeUndefined();
  expect(readWaitPreference(`a=${' '.repeat(16_000)}x`)).toBeUndefined();
  expect(readWaitPreference(`${' ;'.repeat(8000)}, class=batch`)).toEqual({ class: 'batch' });
});
