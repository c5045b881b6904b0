import { describe, expect, test } from '@jest/globals';
import { mediaConfigOf } from '../testing/media-under-test.ts';

describe('the media section', () => {
  test('can be empty: every setting has a default', () => {
    const config = mediaConfigOf({});

    expect(config).toMatchObject({
      listen: undefined,
      http: undefined,
      store: { name: 'media', url: undefined, mode: 'run' },
      blobs: { kind: 'folder', path: undefined },
      ffmpeg: undefined,
      results: { lifetimeMs: 7 * 86_400_000, bytesMax: 2 * 1024 ** 3, parallel: 64 },
      probe: {
        timeoutMs: 5000,
        heapBytes: 256 * 1024 ** 2,
        memoryBytes: 1024 ** 3,
        pixelsMax: 40_000_000,
        workers: 3,
        resultWorkers: 5,
        queueMax: 256,
        queuePerAccountMax: 64,
      },
      bytesMax: { image: 30 * 1024 ** 2, video: 50 * 1024 ** 2, audio: 15 * 1024 ** 2 },
      fetch: {
        allow: [],
        ports: [80, 443],
        redirectsMax: 3,
        dnsServers: [],
        inFlight: { total: 16, perAccount: 4, perHost: 4 },
        leastBytesPerSecond: 16_384,
        speedWindowMs: 15_000,
        headerBytesMax: 16_384,
        urlCharactersMax: 4096,
      },
    });
    expect(config.fetch.timeouts).toEqual({
      dnsMs: 5000,
      connectMs: 5000,
      headersMs: 10_000,
      idleMs: 10_000,
      imageTotalMs: 30_000,
      videoTotalMs: 120_000,
      queueMs: 60_000,
    });
    expect(config.inline).toEqual({
      lifetimeMs: 3_600_000,
      bytesMax: 64 * 1024 ** 2,
      accountBytesMax: 512 * 1024 ** 2,
    });
  });

  test('takes the values that an operator sets', () => {
    const config = mediaConfigOf({
      listen: '127.0.0.1:9103',
      http: '[::1]:9113',
      database: 'postgres://a:b@c/d',
      blobs: '/srv/blobs',
      ffmpeg: '/usr/bin/ffmpeg',
      results: { lifetime: '3s', max_bytes: '1MiB', parallel: 2 },
      fetch: {
        allow: ['127.0.0.1:9000', '[::1]:9001', { host: '10.0.0.7:9002', for: 'results' }],
        max_redirects: 0,
        dns_servers: ['127.0.0.1:5353'],
        timeouts: { dns: '1s' },
      },
    });

    expect(config).toMatchObject({
      listen: { host: '127.0.0.1', port: 9103 },
      http: { host: '::1', port: 9113 },
      blobs: { kind: 'folder', path: '/srv/blobs' },
      ffmpeg: '/usr/bin/ffmpeg',
      results: { lifetimeMs: 3000, bytesMax: 1024 ** 2, parallel: 2 },
    });
    expect(config.fetch).toMatchObject({
      allow: [
        { host: '127.0.0.1', port: 9000, purpose: undefined },
        { host: '::1', port: 9001, purpose: undefined },
        { host: '10.0.0.7', port: 9002, purpose: 'results' },
      ],
      redirectsMax: 0,
      dnsServers: ['127.0.0.1:5353'],
      timeouts: { dnsMs: 1000, connectMs: 5000 },
    });
    expect(String(config.store.url)).toBe('***');
  });

  test('takes a bucket, and its keys as secrets', () => {
    const { blobs } = mediaConfigOf({
      blobs: 's3://videos/kept?endpoint=https://store.example&region=eu-west-1',
      s3: { access_key_id: 'AKIA1', secret_access_key: 'hidden-key' },
    });

    expect(blobs).toMatchObject({
      kind: 's3',
      address: {
        bucket: 'videos',
        prefix: 'kept/',
        endpoint: 'https://store.example',
        region: 'eu-west-1',
        pathStyle: true,
      },
    });
    expect(JSON.stringify(blobs)).not.toContain('hidden-key');
    expect(mediaConfigOf({ blobs: 's3://videos' }).blobs).toMatchObject({ kind: 's3', credentials: undefined });
  });

  test.each<[object, RegExp]>([
    [{ blobs: 's3://' }, /media\.blobs: expected the path of a folder, or s3:\/\/bucket/],
    [{ blobs: 's3://bucket?endpoint=minio:9000' }, /media\.blobs: expected/],
    [{ blobs: 's3://bucket?endpoint=http://key:secret@minio' }, /media\.blobs: expected/],
    [{ blobs: 's3://bucket?acl=public' }, /media\.blobs: expected/],
    [{ s3: { access_key_id: 'a' } }, /media\.s3: the key secret_access_key is missing/],
    [{ ffmpeg: 'ffmpeg' }, /media\.ffmpeg: expected the absolute path of an ffmpeg, or off/],
    [{ database: 'mysql://x' }, /media\.database: expected a PostgreSQL URL/],
    [{ fetch: { allow: ['10.0.0.0/8'] } }, /media\.fetch\.allow\.0: expected an address and a port/],
    [{ fetch: { allow: ['store.internal:80'] } }, /media\.fetch\.allow\.0/],
    [
      { fetch: { allow: ['127.0.0.1:9000', '127.0.0.1:70000'] } },
      /media\.fetch\.allow\.1: expected an address and a port/,
    ],
    [{ fetch: { allow: ['999.1.1.1:80'] } }, /media\.fetch\.allow\.0: expected an address and a port/],
    [
      { fetch: { dns_servers: ['10.0.0.2', '999.1.1.1'] } },
      /media\.fetch\.dns_servers\.1: expected the address of a DNS server/,
    ],
    [{ fetch: { dns_servers: ['[::1::]:53'] } }, /media\.fetch\.dns_servers\.0/],
    [{ fetch: { allow: ['[::ffff:127.0.0.1]:80'] } }, /media\.fetch\.allow\.0: expected an address and a port/],
    [
      { fetch: { allow: [{ host: '127.0.0.1:9000', for: 'tests' }] } },
      /allow\.0\.for: expected one of: inputs, results/,
    ],
    [{ fetch: { allow: [{ host: '127.0.0.1:9000' }] } }, /media\.fetch\.allow\.0: the key for is missing/],
    [{ fetch: { allow: [{ host: '127.0.0.1', for: 'results' }] } }, /allow\.0\.host: expected an address and a port/],
    [{ fetch: { allow: [{ host: '999.1.1.1:80', for: 'inputs' }] } }, /allow\.0\.host: expected an address and a port/],
    [{ fetch: { allow: [{ host: '127.0.0.1:9000', to: 'results', for: 'results' }] } }, /allow\.0\.to: no such key/],
    [{ fetch: { timeouts: { dns: 'soon' } } }, /media\.fetch\.timeouts\.dns: expected a duration/],
    [{ fetch: { proxy: 'x' } }, /media\.fetch\.proxy: no such key/],
    [{ results: { parallel: 0 } }, /media\.results\.parallel/],
  ])('refuses %j and names the reason', (section, message) => {
    expect(() => mediaConfigOf(section)).toThrow(message);
  });
});

describe('the exceptions for receivers of webhooks', () => {
  const allowing = (allow: readonly string[]) => mediaConfigOf({}, undefined, { allow }).webhooks.allow;

  test('are names and addresses, each on a port; without the section there are none', () => {
    expect(allowing(['127.0.0.1:9000', '[::1]:9001', 'Hooks.internal:8443', '0x7f.1:80'])).toEqual([
      { host: '127.0.0.1', port: 9000 },
      { host: '::1', port: 9001 },
      { host: 'hooks.internal', port: 8443 },
      { host: '127.0.0.1', port: 80 },
    ]);
    expect(mediaConfigOf({}).webhooks.allow).toEqual([]);
  });

  test.each(['receiver', 'receiver:0', 'receiver:70000', '[::1::]:80', '999.1.1.1:80', '*:80'])(
    'cannot be %s',
    (entry) => {
      expect(() => allowing(['127.0.0.1:1', entry])).toThrow(/webhooks\.allow\.1: expected a host and a port such as/);
    },
  );
});
