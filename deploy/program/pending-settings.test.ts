import { expect, test } from '@jest/globals';
import { pendingSettings } from './watch-config.ts';
import type { ServiceName } from './config/program-config.ts';

const STARTED = {
  bus: 'nats://a:4222',
  internal_callers: [{ name: 'a' }],
  gateway: { limits: { body: '1MiB', calls_per_minute: 1 }, services: { tasks: 'a:1' } },
  tasks: { retention: '1d' },
  media: { results: { parallel: 1 } },
  channels: [{ id: 'a' }],
};

test.each<[string, object, ServiceName | undefined, readonly string[]]>([
  ['nothing that changed', {}, undefined, []],
  [
    'no list that a reload applies',
    { channels: [], models: { a: {} }, prices: { a: {} }, accounts: [{ id: 'a' }], log: { access: 'off' } },
    undefined,
    [],
  ],
  [
    'each changed, added and removed setting',
    {
      bus: undefined,
      gateway: { ...STARTED.gateway, limits: { body: '2MiB', calls_per_minute: 1 } },
      tasks: { ...STARTED.tasks, database: 'postgres://a' },
    },
    undefined,
    ['gateway.limits.body', 'bus', 'tasks.database'],
  ],
  ['a list as one setting', { internal_callers: [] }, undefined, ['internal_callers']],
  ['no setting of another service', { media: {}, tasks: { retention: '2d' } }, 'tasks', ['tasks.retention']],
  [
    'where the others are called, in every process',
    { gateway: { limits: {}, services: { tasks: 'b:1' } } },
    'tasks',
    ['gateway.services.tasks'],
  ],
])('the settings that wait for a start are %s', (_what, changes, service, expected) => {
  expect(pendingSettings(STARTED, { ...STARTED, ...changes }, service)).toEqual(expected);
});
