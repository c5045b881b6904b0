import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { ROOT } from '../image/dockerfile.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';
import { redisServer } from '../servers/redis-server.ts';
import { dashboards, expressionsOf } from './dashboards.ts';
import { scrape, startMonitoredProgram, useProgram } from './monitored-program.ts';
import type { MonitoredProgram } from './monitored-program.ts';
import { groupingsOf, metricsOf } from './named-metrics.ts';
import { alerts, recordings } from './rules-file.ts';

const TIMEOUT_MS = 120_000;
/** Numbers of a database are read again every ten seconds. */
const NUMBERS_TIMEOUT_MS = 120_000;

/** What no scrape of this load can have. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  up: 'Prometheus itself writes it for each target',
  reelgate_tls_certificate_expiry_seconds: 'only a port with TLS has it: test/e2e/mutual-tls.test.ts',
};
/** Labels that Prometheus writes for each target, or that belong to a kind of metric. */
const LABELS_OF_TARGETS = ['namespace', 'service', 'instance', 'job', 'le'];

const expressions = (): readonly string[] => [
  ...[...alerts(), ...recordings()].map(({ expr }) => expr),
  ...dashboards().flatMap(([, board]) => expressionsOf(board)),
];
const page = readFileSync(path.join(ROOT, 'deploy/metrics.md'), 'utf8');
const hasRow = (name: string): boolean => page.includes(`| \`${name.replace(/_(?:bucket|count|sum)$/, '')}\` |`);
const isMeasured = (name: string): boolean => !name.includes(':') && EXCEPTIONS[name] === undefined;
const namesOf = (metrics: string): ReadonlySet<string> => new Set(metrics.match(/^\w+(?=[{ ])/gm));

/** The labels of every sample of a metric. */
const labelsOf = (metrics: string, name: string): readonly string[] =>
  [...metrics.matchAll(new RegExp(`^${name}\\{(.*)\\} `, 'gm'))].flatMap(([, labels = '']) =>
    [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
  );

test('every metric of a rule or a panel has a row on the page about metrics', () => {
  const own = [
    ...new Set(
      expressions()
        .flatMap(metricsOf)
        .map(({ name }) => name),
    ),
  ].filter((name) => name.startsWith('reelgate_'));

  expect(own.filter((name) => !hasRow(name))).toEqual([]);
});

describeWith(natsServer, 'a running program under a small load', (bus) => {
  describeWith(redisServer, 'with shared counters', (redis) => {
    describeWith(postgresServer, 'each service with its database', (postgres) => {
      let monitored: MonitoredProgram;
      let metrics = '';
      const missing = (): readonly string[] => {
        const shown = namesOf(metrics);
        const named = expressions().flatMap((expr) => metricsOf(expr).map(({ name }) => name));
        return [...new Set(named)].filter((name) => isMeasured(name) && !shown.has(name)).toSorted();
      };

      beforeAll(async () => {
        const servers = { bus: bus(), redis: redis(), postgres: postgres() };
        monitored = await startMonitoredProgram(servers);
        await useProgram(monitored);
        await until(async () => {
          metrics = await scrape(monitored.program);
          return missing().length === 0;
        }, NUMBERS_TIMEOUT_MS).catch(() => undefined);
      }, TIMEOUT_MS);
      afterAll(async () => monitored?.end(), TIMEOUT_MS);

      test('shows every metric that a rule or a panel names', () => {
        expect(missing()).toEqual([]);
      });

      test('shows no metric that the exceptions name', () => {
        expect(Object.keys(EXCEPTIONS).filter((name) => namesOf(metrics).has(name))).toEqual([]);
      });

      test('has every label that a rule or a panel compares', () => {
        const unknown = expressions()
          .flatMap(metricsOf)
          .filter(({ name }) => isMeasured(name))
          .flatMap(({ name, labels }) => {
            const known = [...LABELS_OF_TARGETS, ...labelsOf(metrics, name)];
            return labels.filter((label) => !known.includes(label)).map((label) => `${name}{${label}}`);
          });

        expect([...new Set(unknown)]).toEqual([]);
      });

      test('has every label by which a rule or a panel aggregates', () => {
        const unknown = expressions().flatMap((expr) => {
          const known = metricsOf(expr).flatMap(({ name }) => labelsOf(metrics, name));
          const own = [...LABELS_OF_TARGETS, ...known, ...(/reelgate:/.test(expr) ? ['slo'] : [])];
          const isUnseen = metricsOf(expr).some(({ name }) => !name.includes(':') && !isMeasured(name));
          return isUnseen ? [] : groupingsOf(expr).filter((label) => !own.includes(label));
        });

        expect([...new Set(unknown)]).toEqual([]);
      });
    });
  });
});
