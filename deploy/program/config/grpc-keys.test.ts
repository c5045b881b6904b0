import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { readProgramConfig } from './program-config.ts';
import type { ProgramConfig } from './program-config.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-grpc-'));
afterAll(() => rmSync(folder, { recursive: true }));
const ASKED = 'GRPC_NODE_USE_ALTERNATIVE_RESOLVER';

function read(config: object, environment: Readonly<Record<string, string>> = {}): ProgramConfig {
  const file = path.join(folder, 'reelgate.yaml');
  writeFileSync(file, JSON.stringify(config));
  return readProgramConfig({ ...environment, REELGATE_CONFIG: file });
}

const tasksAt = (tasks: unknown): object => ({ gateway: { services: { tasks } } });

describe('the address of a service', () => {
  test.each<[unknown, string]>([
    ['tasks:9101', 'tasks:9101'],
    ['dns:///tasks-grpc.reelgate.svc.cluster.local.:9101', 'dns:///tasks-grpc.reelgate.svc.cluster.local.:9101'],
    ['ipv4:10.0.0.1:9101,10.0.0.2:9101', 'ipv4:10.0.0.1:9101,10.0.0.2:9101'],
    [['10.0.0.1:9101', '10.0.0.2:9101'], 'ipv4:10.0.0.1:9101,10.0.0.2:9101'],
    [['[::1]:9101'], 'ipv6:[::1]:9101'],
  ])('%j is called as %s', (entry, target) => {
    expect(read(tasksAt(entry)).services.tasks).toBe(target);
  });

  test.each<[unknown, string]>([
    ['tasks', 'expected host:port, a gRPC target such as dns:///service.example.:9101, or a list'],
    ['http://tasks:9101', 'expected host:port, a gRPC target'],
    ['dns:///tasks:99999', 'expected host:port, a gRPC target'],
    [['tasks-1:9101', 'tasks-2:9101'], 'or a list of IP addresses with ports, all IPv4 or all IPv6'],
    [['10.0.0.1:9101', '[::1]:9101'], 'all IPv4 or all IPv6'],
    [
      'dns://10.0.0.10/tasks:9101',
      `the name server 10.0.0.10 is asked only with ${ASKED}=true in the environment; ` +
        'expected that variable, or dns:///name:port',
    ],
  ])('%j is refused with the key and what would be right', (entry, message) => {
    expect(() => read(tasksAt(entry))).toThrow(message);
    expect(() => read(tasksAt(entry))).toThrow(/reelgate\.yaml:1: gateway\.services\.tasks/);
  });

  test('may name a name server that the environment has the library ask', () => {
    const target = 'dns://10.0.0.10/tasks:9101';

    expect(read(tasksAt(target), { [ASKED]: 'true' }).services.tasks).toBe(target);
  });
});

describe('the key grpc', () => {
  test('has the times that a cluster needs where the file says nothing', () => {
    expect(read({}).grpc).toEqual({
      calls: { resolveEveryMs: 1000, reconnectMaxMs: 2000, keepalive: { everyMs: 20_000, answeredWithinMs: 5000 } },
      connectionAgeMs: 120_000,
    });
  });

  test('reaches the ports of the services', () => {
    const { ports } = read({ grpc: { connection_age: '30s' } });

    expect(Object.values(ports).map(({ connectionAgeMs }) => connectionAgeMs)).toEqual([30_000, 30_000, 30_000]);
  });

  test.each<[object, string]>([
    [{ resolve_interval: '0s' }, 'grpc.resolve_interval: expected a duration from 100ms to 24h'],
    [{ reconnect_max: '50ms' }, 'grpc.reconnect_max: expected a duration from 100ms to 24h'],
    [{ keepalive: { time: '0s' } }, 'grpc.keepalive.time: expected a duration from 100ms to 24h'],
    [{ keepalive: { timeout: '0s' } }, 'grpc.keepalive.timeout: expected a duration from 100ms to 24h'],
    [{ connection_age: '999ms' }, 'grpc.connection_age: expected a duration from 1s to 24h'],
    [{ connection_age: '25d' }, 'grpc.connection_age: expected a duration from 1s to 24h'],
  ])('%j is refused', (grpc, message) => {
    expect(() => read({ grpc })).toThrow(message);
  });
});
