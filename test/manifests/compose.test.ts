import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { SERVICE_NAMES } from '../../deploy/program/config/program-config.ts';
import { readConfig } from '../../deploy/program/config/read-config.ts';
import { ROOT } from '../image/dockerfile.ts';
import { describeWith } from '../servers/describe-with.ts';
import { findProgram } from '../servers/find-program.ts';
import { postgresServer } from '../servers/postgres-server.ts';
import { yamlDocuments } from './platform-packages.ts';
import { missingTools, runTool } from './tools.ts';

const DEPLOY = path.join(ROOT, 'deploy');
const FILE = path.join(DEPLOY, 'compose.yaml');
const CONFIG = path.join(DEPLOY, 'compose/reelgate.yaml');
const DATABASES = path.join(DEPLOY, 'kubernetes/overlays/local/stores/databases.sh');
const STORES = ['postgres', 'redis', 'nats', 'minio'];
const OBSERVERS = ['prometheus', 'grafana'];

interface ComposeService {
  readonly image: string;
  readonly command?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly ports?: readonly { readonly host_ip?: string; readonly target: number }[];
  readonly volumes?: readonly { readonly type: string; readonly source: string; readonly target: string }[];
  readonly read_only?: boolean;
  readonly user?: string;
}

const missing = missingTools('compose');
if (missing !== undefined) process.stderr.write(`skipped: the Compose file: ${missing}\n`);

/** The file as Compose understands it. */
function composed(): Readonly<Record<string, ComposeService>> {
  const { status, out, err } = runTool('compose', ['-format', 'json', FILE], undefined, DEPLOY);
  if (status !== 0) throw new Error(err);
  return (JSON.parse(out) as { services: Record<string, ComposeService> }).services;
}

(missing === undefined ? describe : describe.skip)('the Compose file', () => {
  test('has the four services, the sandbox, the stores and their observers, each with a version', () => {
    const services = composed();

    expect(Object.keys(services).sort()).toEqual([...SERVICE_NAMES, 'sandbox', ...STORES, ...OBSERVERS].sort());
    for (const { image } of Object.values(services)) expect(image).toMatch(/:(?!latest)[\w.-]+$/);
  });

  test('starts what waits for another when the other is healthy', () => {
    const services = composed();
    for (const [name, { healthcheck, depends_on: needed = {} }] of Object.entries(services)) {
      if (name !== 'sandbox') expect(healthcheck?.test.length).toBeGreaterThan(1);
      for (const [other, { condition }] of Object.entries(needed))
        expect(condition).toBe(services[other]?.healthcheck === undefined ? 'service_started' : 'service_healthy');
    }
  });

  test('Prometheus keeps the traces that metrics name, and the defaults of its image', () => {
    expect(composed()['prometheus']?.command).toEqual([
      '--config.file=/etc/prometheus/prometheus.yml',
      '--storage.tsdb.path=/prometheus',
      '--enable-feature=exemplar-storage',
    ]);
  });

  test('opens its ports to this machine alone, and mounts files that exist', () => {
    for (const { ports = [], volumes = [] } of Object.values(composed())) {
      expect(ports.filter(({ host_ip: host }) => host !== '127.0.0.1')).toEqual([]);
      expect(volumes.filter(({ type, source }) => type === 'bind' && !existsSync(source))).toEqual([]);
    }
  });

  test('runs the services as the image is meant to be run', () => {
    const services = composed();
    for (const name of SERVICE_NAMES)
      expect(services[name]).toMatchObject({ read_only: true, user: '65532:65532', cap_drop: ['ALL'] });
  });

  test.each(SERVICE_NAMES)('gives %s a configuration that starts without a warning', (name) => {
    const mounted = (composed()[name]?.volumes ?? []).map(
      ({ source, target }) => [source, path.basename(target)] as const,
    );
    const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-compose-'));
    try {
      for (const [source, target] of mounted) {
        const text = readFileSync(source, 'utf8').replaceAll('/etc/reelgate', folder);
        writeFileSync(path.join(folder, target), text);
      }

      expect(mounted.map(([, target]) => target)).toEqual(['reelgate.yaml', 'service-key']);
      expect(readConfig({ REELGATE_CONFIG: path.join(folder, 'reelgate.yaml') }, name).warnings).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('scrapes the operator ports of all four', () => {
    const [scraped] = yamlDocuments(readFileSync(path.join(DEPLOY, 'compose/prometheus.yaml'), 'utf8')) as {
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    }[];
    const [config] = yamlDocuments(readFileSync(CONFIG, 'utf8')) as Record<string, Record<string, string>>[];
    const ports = SERVICE_NAMES.map(
      (name) => `${name}:${String((config?.[name]?.['admin'] ?? config?.[name]?.['http'])?.split(':')[1])}`,
    );

    expect(scraped?.scrape_configs[0]?.static_configs.flatMap(({ targets }) => targets)).toEqual(ports);
  });
});

describeWith(postgresServer, 'the databases of the local stores', (postgres) => {
  test('belong to one role each, and no other may open them', () => {
    const { hostname, port, username, password } = new URL(postgres());
    const server = { PATH: process.env['PATH'], PGHOST: hostname, PGPORT: port };
    const passwords = { TASKS_PASSWORD: 'pw-tasks', BILLING_PASSWORD: 'pw-billing', MEDIA_PASSWORD: 'pw-media' };
    const admin = { ...server, POSTGRES_USER: username, PGPASSWORD: decodeURIComponent(password) };
    execFileSync('sh', [DATABASES], { env: { ...admin, ...passwords }, stdio: 'ignore' });
    const opens = (role: string, database: string): boolean =>
      spawnSync(findProgram('psql') ?? 'psql', ['-U', role, '-d', database, '-c', 'CREATE TABLE t (n int)'], {
        env: { ...server, PGPASSWORD: `pw-${role}` },
      }).status === 0;

    expect(['tasks', 'billing', 'media'].map((name) => opens(name, name))).toEqual([true, true, true]);
    expect(['billing', 'media'].map((name) => opens('tasks', name))).toEqual([false, false]);
  });
});
