import { CHANNEL, KEYS, UPSTREAM_MODEL } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { startBenchProgram } from './bench-program.ts';
import { closedLoop, inTurns, median, quantile, ROUNDS } from './load.ts';
import type { Line } from './table.ts';
import { requestOf } from './wire.ts';

const MODELS = 100;
const ROUND_MS = 2000;
const P99 = 0.99;

/** The catalogue of a hundred video models with their prices, one request at a time, beside the list of their ids. */
export async function catalogueBench(): Promise<readonly Line[]> {
  const bench = await startBenchProgram('one program', { change: withModels });
  const measure = (target: string) => async (): Promise<readonly number[]> => {
    const request = requestOf({ method: 'GET', target, token: KEYS.demo });
    return (await closedLoop({ port: bench.port, request: () => request }, 1, ROUND_MS)).latencies;
  };
  try {
    const { ids, catalogue } = await inTurns(ROUNDS, {
      ids: measure('/v1/models'),
      catalogue: measure('/v1/videos/models'),
    });
    const what = `catalogue of ${MODELS} models (baseline: GET /v1/models)`;
    const line = (name: string, share: number, goal: string): Line => ({
      what: `${what}, ${name}`,
      figure: median(catalogue.map((latencies) => quantile(latencies, share))),
      unit: 'ms',
      baseline: median(ids.map((latencies) => quantile(latencies, share))),
      goal,
    });
    return [line('median', 0.5, '5 ms'), line('p99', P99, '')];
  } finally {
    await bench.end();
  }
}

function withModels(config: TestConfig): TestConfig {
  const ids = Array.from({ length: MODELS }, (_, at) => `model-${at}`);
  const toEach = <T>(value: T): Readonly<Record<string, T>> => Object.fromEntries(ids.map((id) => [id, value]));
  return {
    ...config,
    models: { ...config.models, ...toEach(config.models['Alpha-H3']) },
    channels: config.channels.map((channel) =>
      channel.id === CHANNEL
        ? { ...channel, endpoints: ['video.generation'], models: toEach(UPSTREAM_MODEL) as typeof channel.models }
        : channel,
    ),
    prices: toEach(config.prices['Alpha-H3']) as unknown as TestConfig['prices'],
  };
}
