import { expect, test } from '@jest/globals';
import type { RecentDrops } from '@reelgate/platform/trace/dropped-spans';
import { tracesCheck } from './process-checks.ts';

const NONE: RecentDrops = { spans: 0, reasons: [], fault: undefined };

test.each<[string, RecentDrops | undefined, object]>([
  ['nothing is recorded', undefined, { grade: 'ok', detail: expect.stringMatching(/^off: /) }],
  ['nothing was dropped', NONE, { grade: 'ok', detail: 'spans are sent, and none was dropped in 15 minutes' }],
  [
    'the receiver is away',
    { spans: 7, reasons: ['not_sent'], fault: 'connect ECONNREFUSED' },
    {
      grade: 'warn',
      detail: '7 spans were dropped in 15 minutes: the receiver did not take them (connect ECONNREFUSED)',
      advice: expect.stringContaining('tracing.endpoint'),
    },
  ],
  [
    'the receiver is too slow',
    { spans: 9, reasons: ['queue_full', 'not_sent'], fault: undefined },
    {
      grade: 'warn',
      detail:
        '9 spans were dropped in 15 minutes: more waited than fit into the queue, and the receiver did not take them',
      advice: expect.stringContaining('OTEL_BSP_MAX_QUEUE_SIZE'),
    },
  ],
])('an operator sees where spans go: %s', async (_what, recent, expected) => {
  const { check } = tracesCheck(recent === undefined ? undefined : () => recent);

  expect(await check(new AbortController().signal)).toMatchObject(expected);
});
