import { writeSync } from 'node:fs';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { callOrder } from './call-orders.ts';
import { openBilling, order } from './open-billing.ts';

/*
 * A program for the crash test. On the given folder it places and settles holds in an endless loop, many tasks and
 * calls at a time, and writes a line for each call that billing has reported as done.
 */
const [dataDir = '', prefix = ''] = process.argv.slice(2);
const on = await openBilling({ dataDir, url: undefined, remove: () => undefined });
const say = (word: string, taskId: string): void => {
  writeSync(1, `${word} ${taskId}\n`);
};

async function spend(line: number): Promise<void> {
  for (let number = 0; ; number += 1) {
    const taskId = `${prefix}-${line}-${number}`;
    await on.billing.placeHold(order(on, taskId, { seconds: 1n }));
    say('held', taskId);
    if (number % 3 === 0) continue;
    await on.billing.settleHold({ taskId, totalSeconds: 1n });
    say('settled', taskId);
  }
}

async function call(line: number): Promise<void> {
  for (let number = 0; ; number += 1) {
    const ids = Array.from({ length: 5 }, (_, at) => `${prefix}-call-${line}-${number}-${at}`);
    const { unwrittenBatch } = await on.calls.placeCalls({
      calls: ids.map((id) => callOrder(on, id, { priceKeys: ['Alpha-H3__regeneration'], facts: { seconds: 1n } })),
      ahead: number % 2 === 0,
    });
    if (number % 4 === 0) {
      for (const id of ids) say('reserved', id);
      continue;
    }
    if (unwrittenBatch !== '') await on.calls.confirmCalls({ unwrittenBatch });
    for (const id of ids) say('placed', id);
    if (number % 3 === 0) continue;
    await on.calls.settleCalls({ ends: ids.map((callId) => ({ callId, basis: Basis.USAGE, usage: { seconds: 1n } })) });
    for (const id of ids) say('charged', id);
  }
}

await Promise.all(
  Array.from({ length: 4 }, (_, line) => call(line)).concat(Array.from({ length: 20 }, (_, line) => spend(line))),
);
