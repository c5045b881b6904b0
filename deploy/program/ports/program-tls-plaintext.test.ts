import { expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import type { ProgramConfig, ServiceName } from '../config/program-config.ts';
import { announcePlaintext } from './program-tls.ts';

const TLS = { files: {}, clientCertificates: 'none' } as const;
const at = (host: string, port: number) => ({ host, port });
const LOCAL = { rpc: at('127.0.0.1', 1), http: at('::1', 2) };
const SERVICES = { tasks: 'tasks:9101', billing: '127.0.0.1:9102', media: '127.0.0.1:9103', mediaHttp: '' };

function announced(config: object, service?: ServiceName): readonly [level: string, fields: object][] {
  const lines: [string, object][] = [];
  const none = { rpc: undefined, http: undefined };
  const whole = { ports: { tasks: none, billing: none, media: none }, services: SERVICES, ...config };
  announcePlaintext(whole as unknown as ProgramConfig, service, {
    ...silentLog,
    info: (fields) => void lines.push(['info', fields]),
    warn: (fields) => void lines.push(['warn', fields]),
  });
  return lines;
}

const ports = (tasks: object): object => ({
  ports: { tasks, billing: { rpc: undefined, http: undefined }, media: { rpc: undefined, http: undefined } },
});

test.each<[string, object, ServiceName | undefined, readonly [string, object][]]>([
  ['one program without ports says nothing', {}, undefined, []],
  [
    'ports on the loopback address are named',
    ports(LOCAL),
    undefined,
    [['info', { ports: ['127.0.0.1:1', '::1:2'], calls: [] }]],
  ],
  [
    'ports that others reach are a warning',
    ports({ rpc: at('0.0.0.0', 1), http: undefined }),
    undefined,
    [['warn', { ports: ['0.0.0.0:1'], calls: [] }]],
  ],
  ['ports with TLS are not named', ports({ ...LOCAL, tls: TLS }), undefined, []],
  [
    'calls that leave the machine are a warning',
    {},
    'gateway',
    [['warn', { ports: [], calls: ['tasks:9101', '127.0.0.1:9102', '127.0.0.1:9103'] }]],
  ],
  [
    'the calls of tasks are to billing and media',
    {},
    'tasks',
    [['info', { ports: [], calls: ['127.0.0.1:9102', '127.0.0.1:9103'] }]],
  ],
  [
    'replicas under a name that leaves the machine are a warning',
    { services: { ...SERVICES, billing: 'ipv4:127.0.0.2:9102,127.0.0.3:9102', media: 'dns:///media.:9103' } },
    'tasks',
    [['warn', { ports: [], calls: ['ipv4:127.0.0.2:9102,127.0.0.3:9102', 'dns:///media.:9103'] }]],
  ],
  [
    'replicas on this machine are not a warning',
    { services: { ...SERVICES, billing: 'ipv4:127.0.0.2:9102,127.0.0.3:9102', media: 'dns:///localhost:9103' } },
    'tasks',
    [['info', { ports: [], calls: ['ipv4:127.0.0.2:9102,127.0.0.3:9102', 'dns:///localhost:9103'] }]],
  ],
  ['calls over TLS are not named', { services: { ...SERVICES, tls: {} } }, 'gateway', []],
  ['a service that calls none names no calls', {}, 'media', []],
])('%s, in one line at the start', (_what, config, service, expected) => {
  expect(announced(config, service)).toEqual(expected);
});
