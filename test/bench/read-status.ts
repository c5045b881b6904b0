import { httpCaller } from '../harness/client.ts';
import { KEYS } from '../harness/test-config.ts';
import { startBenchProgram } from './bench-program.ts';
import { byTurns, closedLoop } from './load.ts';
import { startPrototype } from './prototype.ts';
import type { Line } from './table.ts';
import { requestOf } from './wire.ts';

const IN_FLIGHT = 64;
const ROUNDS = 3;
const ROUND_MS = 2000;
const TASKS = 100;

/** Repeated reads of the same tasks, as clients poll. */
export async function readStatusBench(): Promise<readonly Line[]> {
  const bench = await startBenchProgram('one program');
  const prototype = await startPrototype();
  try {
    const caller = httpCaller(bench.program.base, KEYS.demo);
    const ids = await Promise.all(
      Array.from({ length: TASKS }, () =>
        caller.create('/v1/videos', { model: 'Alpha-H3', prompt: 'a red boat', seconds: '5', size: '1280x720' }),
      ),
    );
    const requests = ids.map((id) => requestOf({ method: 'GET', target: `/v1/videos/${id}`, token: KEYS.demo }));
    let at = 0;
    const request = (): Buffer => requests[(at += 1) % requests.length]!;
    await closedLoop({ port: bench.port, request }, IN_FLIGHT, ROUND_MS);
    const { baseline, product } = await byTurns(
      ROUNDS,
      async () => (await closedLoop({ port: prototype.port, request }, IN_FLIGHT, ROUND_MS)).perSecond,
      async () => (await closedLoop({ port: bench.port, request }, IN_FLIGHT, ROUND_MS)).perSecond,
    );
    return [{ what: 'status read, cached, 64 in flight', figure: product, unit: '/s', baseline }];
  } finally {
    prototype.stop();
    await bench.end();
  }
}
