import http from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';

const TIMEOUT_MS = 120_000;
const PORTS = ['admin', 'tasks', 'billing', 'media'] as const;
type Port = (typeof PORTS)[number];
const RPC_PATHS: Readonly<Record<Port, string>> = {
  admin: '/console',
  tasks: '/reelgate.tasks.v1.TaskService/GetTask',
  billing: '/reelgate.billing.v1.BillingService/Authenticate',
  media: '/reelgate.media.v1.MediaService/StageMedia',
};

let upstream: ScriptedUpstream;
let program: Program;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  program = await newProgram('one program', { upstream: upstream.host }, (config) => ({
    ...config,
    allowed_hosts: ['tasks.reelgate.svc'],
    gateway: { ...config.gateway, services: { ...config.gateway.services, media_http: 'media.named.example:9113' } },
  }));
  await program.start();
}, TIMEOUT_MS);
afterAll(async () => {
  await program.end();
  await upstream.stop();
});

const addressOf = (port: Port): string => (port === 'admin' ? program.config.gateway.admin : program.config[port].http);
const statusOf = (port: Port, path: string, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = http.get(`http://${addressOf(port)}${path}`, { headers: { host }, agent: false });
    request.on('error', reject).on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
  });

describe.each(PORTS)('the HTTP port of %s', (port) => {
  const paths = ['/metrics', '/healthz', '/readyz', RPC_PATHS[port]];

  test.each(['attacker.example', 'attacker.example:9111', 'localhost.attacker.example'])(
    'tells a page at %s nothing',
    async (host) => {
      for (const path of paths) expect([path, await statusOf(port, path, host)]).toEqual([path, 421]);
    },
  );
  test.each(['127.0.0.1', '10.244.1.7:9111', 'localhost:1', 'tasks.reelgate.svc:9111', 'media.named.example'])(
    'answers to %s',
    async (host) => {
      for (const path of paths) expect([path, await statusOf(port, path, host)]).not.toEqual([path, 421]);
      expect(await statusOf(port, '/metrics', host)).toBe(200);
    },
  );
});
