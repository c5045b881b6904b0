import { expect, test } from '@jest/globals';
import { resolvePaths } from './resolve-paths.ts';

test('the files that addresses name are relative to the file of the key; the rest stays as it is', () => {
  const value = {
    data_dir: './data',
    tasks: { database: 'postgres://a:b%40@db/tasks?sslmode=verify-full&sslrootcert=tls/ca.crt&sslkey=/abs/tls.key' },
    billing: { database: 'postgres://db/billing?sslmode=verify-full&sslrootcert=system', overrun_factor: 10 },
    media: { blobs: 's3://bucket/a?endpoint=https://s3.example&ca=tls/ca.crt' },
  };

  const { tasks, billing, media, ...rest } = resolvePaths(value, (keys, file) =>
    `/${keys.join('/')}/${file}`.replace(/.*\/\//, '/'),
  );

  const query = (address: string): unknown => Object.fromEntries(new URL(address).searchParams);
  expect(tasks.database).toMatch(/^postgres:\/\/a:b%40@db\/tasks\?/);
  expect(query(tasks.database)).toEqual({
    sslmode: 'verify-full',
    sslrootcert: '/tasks/database/tls/ca.crt',
    sslkey: '/abs/tls.key',
  });
  expect(billing).toEqual(value.billing);
  expect(query(media.blobs)).toEqual({ endpoint: 'https://s3.example', ca: '/media/blobs/tls/ca.crt' });
  expect(rest).toEqual({ data_dir: './data' });
});

test('a folder of blobs and an address without files stay as they are', () => {
  const value = { media: { blobs: './blobs' }, tasks: { database: 'postgres://db/tasks' }, billing: {} };

  expect(resolvePaths(value, () => 'other')).toEqual(value);
});
