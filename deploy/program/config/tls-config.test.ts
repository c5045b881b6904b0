import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { newAuthority, writeTls } from '@reelgate/platform/testing/certificates';
import { readConfig } from './read-config.ts';
import type { ReadConfig } from './read-config.ts';
import { CALLED_SERVICES } from './program-config.ts';
import type { ServiceName } from './program-config.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-tls-config-'));
const authority = newAuthority();
writeTls(path.join(folder, 'tls'), authority.issue(), authority.certificate);
writeTls(path.join(folder, 'expired'), authority.issue({ days: -1 }), authority.certificate);
afterAll(() => {
  rmSync(folder, { recursive: true });
  authority.end();
});

function read(config: object, service?: ServiceName): ReadConfig {
  const file = path.join(folder, 'reelgate.yaml');
  writeFileSync(file, JSON.stringify(config, undefined, 1));
  return readConfig({ REELGATE_CONFIG: file }, service);
}

const PAIR = { certificate: 'tls/tls.crt', key: 'tls/tls.key' };
const MUTUAL = { ...PAIR, client_ca: 'tls/ca.crt' };
const CALLS = { ca: 'tls/ca.crt', ...PAIR };
const APART = {
  bus: 'nats://127.0.0.1:4222',
  signing_key: 'the-key-of-every-service',
  gateway: { services: { tls: CALLS } },
  tasks: { listen: '127.0.0.1:9101', tls: MUTUAL },
  billing: { listen: '127.0.0.1:9102', tls: MUTUAL },
  media: { listen: '127.0.0.1:9103', http: '127.0.0.1:9113', tls: MUTUAL },
};

test('files are found beside the configuration, and media is called over https', () => {
  const { config, warnings } = read(APART, 'gateway');

  expect(config.services).toMatchObject({
    mediaHttp: 'https://127.0.0.1:9113',
    tls: {
      ca: path.join(folder, 'tls/ca.crt'),
      certificate: path.join(folder, 'tls/tls.crt'),
      key: path.join(folder, 'tls/tls.key'),
    },
  });
  expect(warnings).toEqual([]);
});

test.each<[string, object, string]>([
  ['are asked for and required with client_ca', MUTUAL, 'required'],
  ['are asked for only, if they are optional', { ...MUTUAL, client_certificates: 'optional' }, 'optional'],
  ['are not asked for without client_ca', PAIR, 'none'],
])('client certificates %s', (_what, tls, expected) => {
  expect(read({ tasks: { tls } }).config.ports.tasks.tls).toMatchObject({ clientCertificates: expected });
});

describe('is refused with file, line, key and what would be right:', () => {
  test.each<[string, object, ServiceName | undefined, RegExp]>([
    ['a certificate without a key', { tasks: { tls: { certificate: 'a' } } }, undefined, /tasks\.tls: the key key is/],
    [
      'a file that is missing',
      { media: { tls: { ...MUTUAL, client_ca: 'tls/none' } } },
      undefined,
      /media\.tls\.client_ca: the file cannot be read \(ENOENT\); expected a PEM file that this process may read$/,
    ],
    [
      'an expired certificate',
      { billing: { tls: { certificate: 'expired/tls.crt', key: 'expired/tls.key' } } },
      undefined,
      /billing\.tls\.certificate: the file expired on 20.*; expected a valid certificate$/,
    ],
    [
      'the key of another certificate',
      { tasks: { tls: { ...PAIR, key: 'expired/tls.key' } } },
      undefined,
      /tasks\.tls\.key: the file is not the key of the certificate; expected/,
    ],
    [
      'a client certificate without its key',
      { gateway: { services: { tls: { ca: 'tls/ca.crt', certificate: 'tls/tls.crt' } } } },
      undefined,
      /gateway\.services\.tls: expected certificate and key together, or neither$/,
    ],
    [
      'an authority of the services that is missing',
      { ...APART, gateway: { services: { tls: { ca: 'tls/none' } } } },
      'gateway',
      /gateway\.services\.tls\.ca: the file cannot be read/,
    ],
    [
      'a caller in plaintext of a service with TLS',
      { ...APART, gateway: {} },
      'gateway',
      /gateway\.services\.tls: tasks listens with TLS, and gateway calls it; expected gateway\.services\.tls with ca$/,
    ],
  ])('%s', (_what, config, service, expected) => {
    expect(() => read(config, service)).toThrow(expected);
  });
});

describe('gets a warning:', () => {
  test.each<[string, object, RegExp]>([
    ['a service with TLS that is called in plaintext', { tasks: { tls: PAIR } }, /tasks\.tls: the other services and/],
    [
      'a service in plaintext that is called over TLS',
      { tasks: { listen: '127.0.0.1:9101' }, gateway: { services: { tls: CALLS } } },
      /tasks\.listen: gateway\.services\.tls has it called over TLS; expected tasks\.tls$/,
    ],
    [
      'a choice about client certificates that are not asked for',
      {
        tasks: { tls: { ...PAIR, client_certificates: 'optional' } },
        gateway: { services: { tls: CALLS } },
      },
      /tasks\.tls\.client_certificates: has no effect without client_ca/,
    ],
    [
      'a caller whose certificate is never asked for',
      { internal_callers: [{ name: 'a', certificate: 'a.lab', accounts: ['demo'] }] },
      /internal_callers\.0\.certificate: no service asks for client certificates; expected tls with client_ca/,
    ],
  ])('%s', (_what, config, expected) => {
    expect(read(config).warnings).toEqual([expect.stringMatching(expected)]);
  });

  test('but not a service in plaintext behind an address that speaks TLS', () => {
    const gateway = { services: { tasks: 'tasks:9101', tls: CALLS } };

    expect(read({ gateway, tasks: { listen: '127.0.0.1:9101' } }).warnings).toEqual([]);
  });
});

describe('a process reads only the files that it uses', () => {
  const missing = { certificate: 'none', key: 'none' };
  const allOthers = (name: ServiceName): object =>
    Object.fromEntries(
      CALLED_SERVICES.filter((one) => one !== name).map((one) => [one, { ...APART[one], tls: missing }]),
    );

  test.each(CALLED_SERVICES)('%s its own', (name) => {
    expect(() => read({ ...APART, ...allOthers(name) }, name)).not.toThrow();
    expect(() => read({ ...APART, [name]: { ...APART[name], tls: missing } }, name)).toThrow(/certificate: the file/);
  });

  test.each(['billing', 'media'] as const)('%s, which calls no service, none for calls', (name) => {
    expect(() => read({ ...APART, gateway: { services: { tls: { ca: 'none' } } } }, name)).not.toThrow();
  });
});
