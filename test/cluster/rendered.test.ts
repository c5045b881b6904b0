import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runRows } from '../contract/engine/run-rows.ts';
import { ROWS } from '../contract/rows/index.ts';
import { givenWorld } from '../contract/world/given-world.ts';
import { missingForRendered, startRenderedCluster } from './rendered-cluster.ts';
import type { Change, RenderedCluster } from './rendered-cluster.ts';

const START_TIMEOUT_MS = 300_000;
const ROWS_TIMEOUT_MS = 120_000;
const AT_ONCE = 4;
/** The rows of the contract that follow one task through the services. `contract-suite.ts` runs the black-box suite. */
const SECTIONS = ['Idempotency', 'Reads', 'Lists', 'Content', 'Links', 'Cancel and delete', 'Models'];
const PLENTY = { creates_per_minute: 100_000, reads_per_minute: 1_000_000 };
const USER = 65532;
const SERVICES = ['billing', 'gateway', 'media', 'tasks'];

/** The rows come faster than the clients of the overlay may send. */
const withoutLimits: Change = (file, config) => {
  if (file === 'gateway.yaml') return { ...config, gateway: { ...(config['gateway'] as object), limits: PLENTY } };
  if (file !== 'tasks.yaml') return config;
  return { ...config, tasks: { ...(config['tasks'] as object), in_flight: { per_token: 1000, total: 1000 } } };
};

const missing = missingForRendered();
if (missing !== undefined) process.stderr.write(`skipped: the rendered Deployments: ${missing}\n`);

(missing === undefined ? describe : describe.skip)('the rendered Deployments, two replicas each', () => {
  let world: RenderedCluster;

  beforeAll(async () => {
    world = await startRenderedCluster({ seed: 1, replicas: 2, change: withoutLimits });
    await world.available();
  }, START_TIMEOUT_MS);
  afterAll(() => world?.close(), START_TIMEOUT_MS);

  test('each container is an unprivileged user without a capability, whose root is read-only', () => {
    const pods = world.deployments.filter(({ name }) => SERVICES.includes(name)).flatMap(({ pods: some }) => some);
    const facts = pods.flatMap(({ namespace }) =>
      execFileSync('ip', ['netns', 'pids', namespace.name], { encoding: 'utf8' })
        .split('\n')
        .filter(Boolean)
        .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('main.js'))
        .map((pid) => factsOf(pid)),
    );

    expect(pods).toHaveLength(2 * SERVICES.length);
    expect(facts.length).toBeGreaterThanOrEqual(pods.length);
    expect(new Set(facts)).toEqual(new Set([`uid ${USER}, capabilities 0, no new privileges 1, root ro`]));
  });

  test(
    'the contract holds through the public port',
    async () => {
      const rows = ROWS.filter(({ section }) => SECTIONS.includes(section));
      const failures: string[] = [];
      let passed = 0;
      await runRows(rows, givenWorld({ url: world.base, token: 'rg_local_demo_token', sandbox: true }), {
        atOnce: AT_ONCE,
        ended: (row, outcome) => {
          if (outcome.kind === 'passed') passed += 1;
          if (outcome.kind === 'failed') failures.push(`${row.section}: ${row.name}: ${outcome.why}`);
        },
      });

      expect(failures).toEqual([]);
      expect(passed).toBeGreaterThan(50);
    },
    ROWS_TIMEOUT_MS,
  );
});

function factsOf(pid: string): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, uid] = /^Uid:\t(\d+)/m.exec(status) ?? [];
  const [, capabilities] = /^CapBnd:\t0*(\w+)$/m.exec(status) ?? [];
  const [, noNew] = /^NoNewPrivs:\t(\d)/m.exec(status) ?? [];
  const [, options] = /^\d+ \d+ \S+ \S+ \/ (\S+)/m.exec(readFileSync(`/proc/${pid}/mountinfo`, 'utf8')) ?? [];
  return `uid ${String(uid)}, capabilities ${String(capabilities)}, no new privileges ${String(noNew)}, root ${String(
    options?.split(',')[0],
  )}`;
}
