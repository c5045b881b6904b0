import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { aGeneration } from '../harness/orders.ts';
import { startScriptedProgram } from '../harness/scripted-program.ts';
import type { ScriptedProgram } from '../harness/scripted-program.ts';
import { KEYS } from '../harness/test-config.ts';

const TIMEOUT_MS = 120_000;
const PLACES = 2;

let started: ScriptedProgram;
let other: HttpCaller;
beforeAll(async () => {
  started = await startScriptedProgram({
    tasks: { queue: { enabled: false } },
    channel: { limits: { requests_per_minute: 6000, in_flight: PLACES } },
  });
  other = httpCaller(started.program.base, KEYS.other);
}, TIMEOUT_MS);
afterAll(() => started?.end(), TIMEOUT_MS);

test(
  'an account that had all places of a channel leaves a part to one that was refused, and is refused itself',
  async () => {
    const { demo, upstream } = started;
    const create = (caller: HttpCaller) => caller.call('POST', '/v2/video_generation', aGeneration('a boat [gate]'));
    const taken = [];
    for (let place = 0; place < PLACES; place += 1)
      taken.push(await demo.create('/v2/video_generation', aGeneration('a boat [gate]')));
    expect((await create(other)).status).toBe(429);
    upstream.openGate();
    for (const id of taken) await demo.finish(id);

    const statuses = [];
    for (const caller of [demo, demo, other]) statuses.push((await create(caller)).status);

    expect(statuses).toEqual([200, 429, 200]);
  },
  TIMEOUT_MS,
);
