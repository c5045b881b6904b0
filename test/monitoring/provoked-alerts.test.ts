import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, test } from '@jest/globals';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { CHANNEL, KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';
import { redisServer } from '../servers/redis-server.ts';
import { NARROW_CHANNEL, aNarrowOrder, anOrder, scrapeTargets, startMonitoredProgram } from './monitored-program.ts';
import type { MonitoredProgram } from './monitored-program.ts';
import { missingPrometheus, startPrometheus } from './prometheus-server.ts';
import type { PrometheusServer } from './prometheus-server.ts';
import { shortRules } from './short-rules.ts';

const TIMEOUT_MS = 120_000;
const PAUSE_MS = 200;

const missing = missingPrometheus();
if (missing !== undefined) process.stderr.write(`skipped: provoked alerts: ${missing}\n`);
const provoked = missing === undefined ? test : test.skip;

describeWith(natsServer, 'a real Prometheus beside the running program', (bus) => {
  describeWith(redisServer, 'with shared counters', (redis) => {
    describeWith(postgresServer, 'each service with its database', (postgres) => {
      let monitored: MonitoredProgram;
      let prometheus: PrometheusServer;
      let client: HttpCaller;

      beforeAll(async () => {
        if (missing !== undefined) return;
        monitored = await startMonitoredProgram({ bus: bus(), redis: redis(), postgres: postgres() });
        prometheus = await startPrometheus(scrapeTargets(monitored.program.config), shortRules());
        client = httpCaller(monitored.program.base, KEYS.demo);
      }, TIMEOUT_MS);
      afterAll(async () => {
        await prometheus?.stop();
        await monitored?.end();
      }, TIMEOUT_MS);

      const create = (words: string): Promise<string> => client.create('/v2/video_generation', anOrder(words));
      /** Creates, which may fail, one after the other until the work is done. */
      const whileClientsCreate = async (work: () => Promise<unknown>): Promise<void> => {
        const done = new AbortController();
        const creates = (async () => {
          while (!done.signal.aborted) {
            await client.call('POST', '/v2/video_generation', anOrder('a boat'));
            await wait(PAUSE_MS);
          }
        })();
        await work().finally(() => {
          done.abort();
        });
        await creates;
      };
      /** The files of the configuration, changed until the work is done. */
      const withConfig = async (
        change: (config: TestConfig) => object,
        work: () => Promise<unknown>,
      ): Promise<void> => {
        const file = path.join(path.dirname(monitored.program.config.data_dir), 'reelgate.yaml');
        const before = readFileSync(file, 'utf8');
        writeFileSync(file, JSON.stringify(change(monitored.program.config)));
        try {
          await work();
        } finally {
          writeFileSync(file, before);
        }
      };

      provoked(
        'ReelgateConfigRefused fires for every service when the new configuration has a mistake',
        async () => {
          await withConfig(
            (config) => ({ ...config, prices: { 'Alpha-H3': { per_second: 'much' } } }),
            async () => {
              for (const service of Object.keys(scrapeTargets(monitored.program.config)))
                await prometheus.firing('ReelgateConfigRefused', { service });
            },
          );
        },
        TIMEOUT_MS,
      );

      provoked(
        'ReelgateAttentionWaiting fires when the upstream reports a status that the adapter does not know',
        async () => {
          await create('a boat [unknown:paused]');
          await prometheus.firing('ReelgateAttentionWaiting', { severity: 'ticket' });
        },
        TIMEOUT_MS,
      );

      provoked(
        'ReelgatePollLag fires for the channel whose polls are bounded below its work',
        async () => {
          const slowly = (config: TestConfig): object => ({
            ...config,
            channels: config.channels.map((channel) =>
              channel.id === CHANNEL ? { ...channel, limits: { polls_per_minute: 1 } } : channel,
            ),
          });
          await withConfig(slowly, async () => {
            await Promise.all(['one', 'two', 'three'].map((name) => create(`${name} [never]`)));
            await prometheus.firing('ReelgatePollLag', { channel: CHANNEL });
          });
        },
        TIMEOUT_MS,
      );

      provoked(
        'ReelgateWebhookEndpointDisabled fires when a receiver answers that it is gone',
        async () => {
          monitored.receiver.answer('/gone', 410);
          await client.call('POST', '/v1/webhook_endpoints', {
            name: 'an endpoint that is gone',
            url: monitored.receiver.url('/gone'),
            event_types: ['video.completed'],
          });
          await create('a boat');
          await prometheus.firing('ReelgateWebhookEndpointDisabled', { reason: 'gone' });
        },
        TIMEOUT_MS,
      );

      provoked(
        'ReelgateLaneWithoutChannel and …TasksExpired fire when the only channel for tasks that wait is removed',
        async () => {
          for (let tasks = 0; tasks < 2; tasks += 1)
            await client.create('/v2/video_generation', aNarrowOrder('slow:20s'));
          const without = (config: TestConfig): object => ({
            ...config,
            channels: config.channels.filter(({ id }) => id !== NARROW_CHANNEL),
          });
          await withConfig(without, async () => {
            await prometheus.firing('ReelgateLaneWithoutChannel', { severity: 'ticket' });
            await prometheus.firing('ReelgateTasksExpired', { class: 'standard' });
          });
        },
        TIMEOUT_MS,
      );

      provoked(
        'ReelgateServiceAbsent, …PeerUnreachable and …SettlementBehind fire when tasks end while billing is dead',
        async () => {
          await create('a boat [slow:3s]');
          await monitored.program.signal('billing', 'SIGKILL');
          try {
            await prometheus.firing('ReelgateServiceAbsent', { service: 'billing' });
            await prometheus.firing('ReelgatePeerUnreachable', { service: 'gateway', peer: 'billing' });
            await prometheus.firing('ReelgateSettlementBehind', { severity: 'page' });
          } finally {
            monitored.program.startOne('billing');
            await monitored.program.ready();
          }
        },
        TIMEOUT_MS,
      );

      provoked(
        'ReelgateGatewayErrors, …ChannelDown and …NoChannel fire when the only upstream is away',
        async () => {
          await monitored.sandbox.stop();
          await whileClientsCreate(async () => {
            await prometheus.firing('ReelgateGatewayErrors', { slo: 'creates' });
            await prometheus.firing('ReelgateChannelDown', { channel: CHANNEL });
            await prometheus.firing('ReelgateNoChannel', { severity: 'page' });
          });
        },
        TIMEOUT_MS,
      );
    });
  });
});
