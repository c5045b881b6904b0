import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findProgram } from '../servers/find-program.ts';
import { newServerFolder } from '../servers/run-folder.ts';
import { startProcess } from '../servers/start-process.ts';

const PROGRAM = 'prometheus';
const POLL_MS = 250;
const FIRING_TIMEOUT_MS = 90_000;
const CALL_TIMEOUT_MS = 60_000;
/** The time that is searched for exemplars. */
const EXEMPLARS_S = 600;
const EVERYONE_READS = 0o644;

type Labels = Readonly<Record<string, string>>;

interface ActiveAlert {
  readonly state: 'pending' | 'firing';
  readonly labels: Labels;
}

/** Prometheus with rules, which scrapes and evaluates every second. */
export interface PrometheusServer {
  /** Resolves when an alert with these labels fires; rejects after a time limit with what is active instead. */
  firing(alert: string, labels: Labels): Promise<void>;
  /** The values of an expression now, each of one set of labels. */
  values(expr: string): Promise<readonly number[]>;
  /** The values that a label of a metric has. */
  labelValues(metric: string, label: string): Promise<readonly string[]>;
  /** The ids of the traces that the metrics of an expression were last seen with. */
  traceIds(expr: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** Why Prometheus cannot run on this machine; undefined: it can. */
export const missingPrometheus = (): string | undefined =>
  findProgram(PROGRAM) === undefined ? 'no prometheus here (Debian: apt-get install prometheus)' : undefined;

/** `targets`: the `host:port` of each service. */
export async function startPrometheus(
  targets: Readonly<Record<string, string>>,
  rules: string,
): Promise<PrometheusServer> {
  const folder = newServerFolder(PROGRAM);
  const write = (name: string, text: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    chmodSync(file, EVERYONE_READS);
    return file;
  };
  const config = write(
    'prometheus.yaml',
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [write('rules.yaml', rules)],
      scrape_configs: [
        {
          job_name: 'reelgate',
          honor_labels: true,
          static_configs: Object.entries(targets).map(([service, target]) => ({
            targets: [target],
            labels: { namespace: 'test', service },
          })),
        },
      ],
    }),
  );
  const { url, stop } = await startProcess({
    program: findProgram(PROGRAM) ?? PROGRAM,
    folder,
    args: (port) => [
      `--config.file=${config}`,
      `--storage.tsdb.path=${path.join(folder, 'data')}`,
      '--enable-feature=exemplar-storage',
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    ready: /Server is ready to receive web requests/,
    url: (port) => `http://127.0.0.1:${port}`,
  });
  const ask = async <T>(path: string, parameters: Labels): Promise<T> => {
    const answer = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`, {
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    const { status, error, data } = (await answer.json()) as { status: string; error?: string; data: T };
    if (status !== 'success') throw new Error(`prometheus refuses ${JSON.stringify(parameters)}: ${error ?? ''}`);
    return data;
  };
  return {
    stop,
    firing: (alert, labels) => untilFiring(url, { alertname: alert, ...labels }),
    values: async (query) => {
      const { result } = await ask<{ result: readonly { value: readonly [at: number, value: string] }[] }>('query', {
        query,
      });
      return result.map(({ value }) => Number(value[1]));
    },
    labelValues: (metric, label) => ask(`label/${label}/values`, { 'match[]': metric }),
    traceIds: async (query) => {
      const now = Date.now() / 1000;
      const found = await ask<readonly { exemplars: readonly { labels: Labels }[] }[]>('query_exemplars', {
        query,
        start: String(now - EXEMPLARS_S),
        end: String(now),
      });
      return found.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels['trace_id'] ?? ''));
    },
  };
}

async function untilFiring(url: string, expected: Labels): Promise<void> {
  const deadline = performance.now() + FIRING_TIMEOUT_MS;
  const isExpected = ({ state, labels }: ActiveAlert): boolean =>
    state === 'firing' && Object.entries(expected).every(([name, value]) => labels[name] === value);
  for (;;) {
    const answer = await fetch(`${url}/api/v1/alerts`, { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
    const { alerts } = ((await answer.json()) as { data: { alerts: ActiveAlert[] } }).data;
    if (alerts.some(isExpected)) return;
    if (performance.now() > deadline)
      throw new Error(`${JSON.stringify(expected)} does not fire; active are ${JSON.stringify(alerts)}`);
    await wait(POLL_MS);
  }
}
