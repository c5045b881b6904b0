import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { aGeneration } from '../harness/orders.ts';
import { startScriptedProgram } from '../harness/scripted-program.ts';
import type { ScriptedProgram } from '../harness/scripted-program.ts';
import { KEYS } from '../harness/test-config.ts';
import { FLOODS } from './floods.ts';

const TIMEOUT_MS = 120_000;
const ROUNDS = 20;

let started: ScriptedProgram | undefined;
let other: HttpCaller;
beforeAll(async () => {
  started = await startScriptedProgram();
  other = httpCaller(started.program.base, KEYS.other);
}, TIMEOUT_MS);
afterAll(() => started?.end(), TIMEOUT_MS);

test.each(FLOODS)(
  'beside %s, every create and read of another account succeeds',
  async (_what, start) => {
    const flood = await start({ base: started!.program.base, key: KEYS.demo });
    const statuses: number[] = [];
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        const created = await other.call('POST', '/v2/video_generation', aGeneration('a red boat'));
        const { task_id: taskId } = created.json as { readonly task_id?: string };
        const read = await other.call('GET', `/v1/videos/${taskId}`);
        statuses.push(created.status, read.status);
      }
    } finally {
      await flood.end();
    }

    expect(statuses).toEqual(Array<number>(2 * ROUNDS).fill(200));
  },
  TIMEOUT_MS,
);
