import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { httpCaller } from '../harness/client.ts';
import { KEYS } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';
import { redisServer } from '../servers/redis-server.ts';
import { dashboards, withoutVariables } from './dashboards.ts';
import {
  aNarrowOrder,
  anOrder,
  asyncCall,
  chat,
  scrapeTargets,
  startMonitoredProgram,
  useProgram,
} from './monitored-program.ts';
import type { MonitoredProgram } from './monitored-program.ts';
import { RULES } from './prometheus-rule.ts';
import { missingPrometheus, startPrometheus } from './prometheus-server.ts';
import type { PrometheusServer } from './prometheus-server.ts';

const START_MS = 120_000;
/** Numbers of a database are read again every ten seconds, and a rate needs two scrapes. */
const FILLED_MS = 60_000;
/** Within this time two orders have had their turns, and Prometheus has read it. */
const TURN_MS = 10_000;
const TEST_MS = 2 * FILLED_MS;

const missing = missingPrometheus();
if (missing !== undefined) process.stderr.write(`skipped: filled dashboards: ${missing}\n`);
const filled = missing === undefined ? test : test.skip;

const queries = dashboards().flatMap(([, { title, panels }]) =>
  panels.flatMap((panel) =>
    panel.targets.map(({ expr }): [string, string, string] => [title, panel.title, withoutVariables(expr)]),
  ),
);
const withTraces = dashboards().flatMap(([, { title, panels }]) =>
  panels.flatMap((panel) =>
    panel.targets
      .filter(({ exemplar }) => exemplar === true)
      .map(({ expr }): [string, string, string] => [title, panel.title, withoutVariables(expr)]),
  ),
);
const variables = dashboards().flatMap(([, { title, templating }]) =>
  templating.list.flatMap(({ name, definition = '' }): [string, string, string, string][] => {
    const [, metric = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(withoutVariables(definition)) ?? [];
    return definition === '' ? [] : [[title, name, metric, label]];
  }),
);

describeWith(natsServer, 'a real Prometheus that scrapes four processes under a small load', (bus) => {
  describeWith(redisServer, 'with shared counters', (redis) => {
    describeWith(postgresServer, 'each service with its database', (postgres) => {
      let monitored: MonitoredProgram;
      let prometheus: PrometheusServer;

      beforeAll(async () => {
        if (missing !== undefined) return;
        monitored = await startMonitoredProgram({ bus: bus(), redis: redis(), postgres: postgres() });
        const { program } = monitored;
        prometheus = await startPrometheus(scrapeTargets(program.config), readFileSync(RULES, 'utf8'));
        await until(async () => (await prometheus.values('up == 1')).length === 4);
        const client = httpCaller(program.base, KEYS.demo);
        /** Two orders of a channel with one place, repeated because the first one may end before the second comes. */
        const orderInTurn = async (expr: string): Promise<void> => {
          await until(async () => {
            for (let tasks = 0; tasks < 2; tasks += 1)
              await client.create('/v2/video_generation', aNarrowOrder('slow:1s'));
            const seen = async (): Promise<boolean> => (await prometheus.values(expr)).length > 0;
            return until(seen, TURN_MS).then(
              () => true,
              () => false,
            );
          });
        };
        await orderInTurn('reelgate_wait_seconds_count');
        // a series begins with its first call or task, and its rate with the second that a scrape sees apart
        await chat(program);
        await until(async () => (await prometheus.values('reelgate_relay_first_byte_seconds_count')).length > 0);
        await orderInTurn('rate(reelgate_wait_seconds_count[5m]) > 0');
        await asyncCall(monitored);
        await until(async () => (await prometheus.values('reelgate_webhook_attempt_seconds_count')).length > 0);
        await useProgram(monitored);
        await until(async () => (await prometheus.values('reelgate_task_seconds_count{state="completed"}')).length > 0);
        await client.finish(await client.create('/v2/video_generation', anOrder('a boat')));
      }, START_MS);
      afterAll(async () => {
        await prometheus?.stop();
        await monitored?.end();
      }, START_MS);

      filled.each(variables)(
        '%s: the variable %s has values to choose from',
        async (_board, _name, metric, label) => {
          await until(async () => (await prometheus.labelValues(metric, label)).length > 0, FILLED_MS);
        },
        TEST_MS,
      );

      filled.each(queries)(
        '%s: %s shows data: %s',
        async (_board, _panel, expr) => {
          let values: readonly number[] = [];
          await until(async () => {
            values = await prometheus.values(expr);
            return values.some((value) => Number.isFinite(value));
          }, FILLED_MS).catch(() => undefined);

          expect(values.filter((value) => Number.isFinite(value))).not.toEqual([]);
        },
        TEST_MS,
      );

      filled.each(withTraces)(
        '%s: %s leads to traces: %s',
        async (_board, _panel, expr) => {
          let ids: readonly string[] = [];
          await until(async () => {
            ids = await prometheus.traceIds(expr);
            return ids.length > 0;
          }, FILLED_MS).catch(() => undefined);

          expect(ids).not.toEqual([]);
          for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
        },
        TEST_MS,
      );
    });
  });
});
