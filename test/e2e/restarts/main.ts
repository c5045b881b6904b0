import { parseArgs } from 'node:util';
import { natsServer } from '../../servers/nats-server.ts';
import { postgresServer } from '../../servers/postgres-server.ts';
import { redisServer } from '../../servers/redis-server.ts';
import { REPLICAS } from './replicas.ts';
import { countBy, openRestartWorld } from './run.ts';
import type { RunResult } from './run.ts';

const USAGE = `usage: node test/e2e/restarts/main.ts [--signal SIGTERM|SIGKILL] [--seed N] [--runs N] [--creates N] [--services LIST]

Restarts each of two processes of every service under load, and prints each request that failed, and where.
  --signal    SIGTERM by default
  --services  those whose processes are restarted, such as tasks,billing; all by default
  --creates   creates a second; 30 by default. Each task is read every second
  --in-hand   the most tasks that are read at one time; 1000 by default
  --runs      1 by default; each has the next seed
  --chain     the failed calls and the lines of the log of each failure too`;

const CHAIN_LENGTH_MAX = 400;
const TEXT_LENGTH_MAX = 200;

const { values } = parseArgs({
  options: {
    signal: { type: 'string', default: 'SIGTERM' },
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1' },
    'in-hand': { type: 'string', default: '1000' },
    creates: { type: 'string', default: '30' },
    services: { type: 'string', default: 'billing,media,tasks,gateway' },
    chain: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(USAGE);
else await main();

async function main(): Promise<void> {
  const stops: (() => Promise<void>)[] = [];
  const started = async (launcher: typeof natsServer): Promise<string> => {
    const server = await launcher.start();
    if (server === undefined) throw new Error(launcher.missing());
    stops.push(() => server.stop());
    return server.url;
  };
  try {
    const [bus, redis, postgres] = [
      await started(natsServer),
      await started(redisServer),
      await started(postgresServer),
    ];
    const world = await openRestartWorld({ bus, redis, postgres });
    stops.push(() => world.close());
    for (let run = 0; run < Number(values.runs); run += 1)
      print(
        Number(values.seed) + run,
        await world.run({
          seed: Number(values.seed) + run,
          signal: values.signal as 'SIGTERM' | 'SIGKILL',
          createsPerSecond: Number(values.creates),
          inHandMax: Number(values['in-hand']),
          replicas: REPLICAS.filter(({ service }) => values.services.split(',').includes(service)),
        }),
      );
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function print(seed: number, { requests, failures }: RunResult): void {
  const kinds = countBy(failures, ({ kind, status }) => `${kind} ${String(status)}`);
  const failed = `failed ${failures.length} ${JSON.stringify(kinds)}`;
  console.log(`seed ${seed} ${values.signal}: ${JSON.stringify(requests)} ${failed}`);
  for (const { kind, target, status, text, after, from, to, chain } of failures) {
    console.log(
      `  ${kind}: ${target} ${String(status)} in ${to - from} ms, ${after}: ${text.slice(0, TEXT_LENGTH_MAX)}`,
    );
    if (values.chain) for (const line of chain) console.log(`      ${line.slice(0, CHAIN_LENGTH_MAX)}`);
  }
}
