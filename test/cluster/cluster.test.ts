import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { openCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { onMachine } from './container.ts';
import type { Deployment } from './deployment.ts';
import { missingForNetwork, openNetwork } from './network.ts';
import type { PodSpec } from './pod.ts';

const TIMEOUT_MS = 120_000;
const PORT = 8000;
const REPLICAS = 2;
/** Answers its address, is ready until SIGTERM, and ends a second later. */
const SERVER = `
let stopping = false;
const server = require('node:http').createServer((request, response) => {
  response.statusCode = stopping && request.url === '/readyz' ? 503 : 200;
  if (stopping) response.setHeader('connection', 'close');
  response.end(Object.values(require('node:os').networkInterfaces()).flat().map((one) => one.address).join());
});
server.listen(${PORT});
process.on('SIGTERM', () => {
  stopping = true;
  setTimeout(() => server.close(() => process.exit(0)), 2000);
});
`;
const probe = { port: PORT, periodMs: 100, timeoutMs: 2000, failureThreshold: 2 };
const SPEC: PodSpec = {
  container: onMachine({
    command: [process.execPath, '-e', SERVER],
    env: { PATH: process.env['PATH'] ?? '' },
    cwd: '/',
  }),
  probes: { startup: { ...probe, path: '/healthz', failureThreshold: 200 }, readiness: { ...probe, path: '/readyz' } },
  preStopMs: 0,
  graceMs: 20_000,
};

const missing = missingForNetwork();
if (missing !== undefined) process.stderr.write(`skipped: a cluster of one machine: ${missing}\n`);

(missing === undefined ? describe : describe.skip)('a cluster of one machine', () => {
  let cluster: Cluster;
  let deployment: Deployment;
  let base: string;
  let namesOf: () => Promise<readonly string[]>;

  beforeAll(async () => {
    cluster = await openCluster({ seed: 1 });
    const ports = [{ port: 80, targetPort: PORT }];
    await cluster.addService({ name: 'web-pods', selects: 'web', headless: true, ports });
    base = `http://${String(await cluster.addService({ name: 'web', selects: 'web', headless: false, ports }))}`;
    const shape = { name: 'web', replicas: REPLICAS, maxSurge: 1, maxUnavailable: 0, minReadyMs: 500 };
    deployment = await cluster.deploy({ ...shape, pod: SPEC });
    const resolver = new Resolver();
    resolver.setServers([cluster.network.address]);
    namesOf = () => resolver.resolve4('web-pods.reelgate.svc.cluster.local').catch(() => []);
    await deployment.available();
  }, TIMEOUT_MS);
  afterAll(() => cluster?.close(), TIMEOUT_MS);

  const addresses = (): readonly string[] => deployment.pods.map(({ namespace }) => namespace.address).toSorted();
  const isNamed = async (): Promise<boolean> => (await namesOf()).toSorted().join() === addresses().join();

  test('a headless name has the addresses of the ready pods, and a Service sends connections to all of them', async () => {
    await until(isNamed);
    const answered = new Set<string>();
    await until(async () => {
      const answer = await fetch(base, { headers: { connection: 'close' } });
      answered.add(await answer.text());
      return answered.size === REPLICAS;
    });

    expect([...answered].every((text) => addresses().some((address) => text.includes(address)))).toBe(true);
  });

  test(
    'a rolling restart replaces every pod, and no request over the Service fails',
    async () => {
      const before = addresses();
      const failures: unknown[] = [];
      let isOver = false;
      const client = (async (): Promise<void> => {
        while (!isOver)
          await fetch(base).then(
            (answer) => answer.text(),
            (error: unknown) => failures.push(error),
          );
      })();
      await deployment.rollingRestart();
      isOver = true;
      await client;

      expect(failures).toEqual([]);
      expect(addresses().filter((address) => before.includes(address))).toEqual([]);
      expect(deployment.endings.map((how) => how.split(': ')[1])).toEqual(['0', '0']);
      await until(isNamed);
    },
    TIMEOUT_MS,
  );

  test('the container of a killed pod starts again in the same pod', async () => {
    const [pod] = deployment.pods;
    pod!.kill('SIGKILL');
    await until(() => pod!.starts === 2);
    await until(() => pod!.isReady);

    expect(deployment.pods).toContain(pod);
  });

  test('two pods whose line is cut do not reach one another until it is joined', async () => {
    const [one, other] = deployment.pods.map(({ namespace }) => namespace);
    const reaches = (): boolean => {
      try {
        const script = `fetch('http://${other!.address}:${PORT}', { signal: AbortSignal.timeout(1000) }).catch(() => process.exit(1))`;
        execFileSync('ip', ['netns', 'exec', one!.name, process.execPath, '-e', script], { stdio: 'ignore' });
        return true;
      } catch {
        return false;
      }
    };
    cluster.network.part(one!, other!);
    const whileParted = reaches();
    cluster.network.join(one!, other!);

    expect([whileParted, reaches()]).toEqual([false, true]);
  });

  test('a Service without a ready pod resets connections', async () => {
    const ports = [{ port: 80, targetPort: PORT }];
    const address = await cluster.addService({ name: 'nothing', selects: 'nothing', headless: false, ports });
    const how = await new Promise((resolve) => {
      createConnection({ host: String(address), port: 80 })
        .once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
        .once('close', () => resolve('closed'));
    });

    expect(how).toBe('ECONNRESET');
  });
});

(missing === undefined ? test : test.skip)('nothing of a closed cluster stays on the machine', async () => {
  const cluster = await openCluster({ seed: 1 });
  const { name } = cluster.network.addNamespace('pod');
  await cluster.close();

  expect(execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' })).not.toContain(name);
  expect(execFileSync('ip', ['-o', 'link', 'show'], { encoding: 'utf8' })).not.toContain(name.split('-')[0]);
});

(missing === undefined ? test : test.skip)(
  'pods reach the machine at the same hardware address while others come and go',
  () => {
    const network = openNetwork();
    try {
      const first = network.addNamespace('first');
      const [bridge = ''] = first.name.split('-');
      const hardwareAddress = (): string => readFileSync(`/sys/class/net/${bridge}/address`, 'utf8').trim();
      const known = hardwareAddress();
      network.addNamespace('second');
      const withSecond = hardwareAddress();
      // the end of a namespace removes its link a moment later, this does it at once
      execFileSync('ip', ['-n', first.name, 'link', 'del', 'eth0']);

      expect([withSecond, hardwareAddress()]).toEqual([known, known]);
    } finally {
      network.close();
    }
  },
);
