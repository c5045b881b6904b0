import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { readProgramConfig } from './program-config.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-services-'));
afterAll(() => rmSync(folder, { recursive: true }));

function servicesOf(config: object): object {
  const file = path.join(folder, 'reelgate.yaml');
  writeFileSync(file, JSON.stringify(config));
  return readProgramConfig({ REELGATE_CONFIG: file }).services;
}

const DEFAULTS = {
  tasks: '127.0.0.1:9101',
  billing: '127.0.0.1:9102',
  media: '127.0.0.1:9103',
  mediaHttp: 'http://127.0.0.1:9113',
};

test.each<[string, object, object]>([
  ['on the default ports where the file says nothing', {}, DEFAULTS],
  [
    'where they listen by the same file',
    { tasks: { listen: '127.0.0.1:7001' }, media: { listen: '10.0.0.3:7003', http: '10.0.0.3:7013' } },
    { ...DEFAULTS, tasks: '127.0.0.1:7001', media: '10.0.0.3:7003', mediaHttp: 'http://10.0.0.3:7013' },
  ],
  [
    'on the loopback address where they listen on every address',
    { tasks: { listen: '0.0.0.0:7001' }, billing: { listen: '[::]:7002' } },
    { ...DEFAULTS, tasks: '127.0.0.1:7001', billing: '[::1]:7002' },
  ],
  [
    'where gateway.services names them, whatever they listen on',
    {
      gateway: { services: { tasks: 'tasks:9101', media_http: 'media:9113' } },
      tasks: { listen: '0.0.0.0:9101' },
      media: { http: '0.0.0.0:9113' },
    },
    { ...DEFAULTS, tasks: 'tasks:9101', mediaHttp: 'http://media:9113' },
  ],
])('the services are called %s', (_where, config, expected) => {
  expect(servicesOf(config)).toEqual(expected);
});
