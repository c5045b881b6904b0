import { describe, expect, test } from '@jest/globals';
import { ConfigError } from './config-document.ts';
import {
  address,
  bytes,
  choice,
  convert,
  duration,
  list,
  readSection,
  secret,
  section,
  sectionSchema,
  text,
  whole,
} from './settings.ts';
import type { EntryOf, ValuesOf } from './settings.ts';

const KEYS = {
  listen: address('the address'),
  mode: choice('what a start does', ['run', 'check'], { default: 'run' }),
  results: {
    lifetime: duration('how long results are kept', { default: '7d', min: '1s' }),
    max_bytes: bytes('the largest result', { default: '1KiB', as: 'bytesMax' }),
  },
  keys: section({ access_key: secret('the key', { required: true }), note: text('a note') }),
  ports: list('the ports', whole('a port', { max: 65_535 }), { default: [80] }),
  day: convert(text('a day'), (value, at) => {
    if (value !== 'monday') throw new ConfigError(`${at}: expected monday`);
    return 1;
  }),
};

// the types that follow from the keys; the type check is the test
const entry: EntryOf<typeof KEYS> = { mode: 'check', results: { lifetime: '1d', max_bytes: '1' }, ports: [] };
const value: ValuesOf<typeof KEYS> = readSection(KEYS, entry, 'media');
const results: { readonly lifetimeMs: number; readonly bytesMax: number } = value.results;
const mode: 'run' | 'check' = value.mode;

describe('the keys of a section', () => {
  test('are read under the names and in the units of the program', () => {
    expect([results, mode]).toEqual([{ lifetimeMs: 86_400_000, bytesMax: 1 }, 'check']);
    expect(readSection(KEYS, { listen: '127.0.0.1:80', keys: { access_key: 'abc' } }, 'media')).toMatchObject({
      listen: { host: '127.0.0.1', port: 80 },
      mode: 'run',
      results: { lifetimeMs: 604_800_000, bytesMax: 1024 },
      ports: [80],
      day: undefined,
    });
    expect(JSON.stringify(readSection(KEYS, { keys: { access_key: 'abc' } }, 'media'))).not.toContain('abc');
  });

  test('name the place of a value that only their reader refuses', () => {
    expect(() => readSection(KEYS, { day: 'sunday' }, 'media')).toThrow(new ConfigError('media.day: expected monday'));
  });

  test('give the schema of the section', () => {
    expect(sectionSchema(KEYS)).toEqual({
      type: 'object',
      additionalProperties: false,
      properties: {
        listen: { type: 'string', format: 'host-port', about: 'the address' },
        mode: { enum: ['run', 'check'], default: 'run', about: 'what a start does' },
        results: {
          type: 'object',
          additionalProperties: false,
          default: {},
          properties: {
            lifetime: {
              type: 'string',
              format: 'duration',
              range: { min: '1s' },
              description: 'a duration from 1s, such as 3s or 30m',
              default: '7d',
              about: 'how long results are kept',
            },
            max_bytes: { type: 'string', format: 'bytes', default: '1KiB', about: 'the largest result' },
          },
        },
        keys: {
          type: 'object',
          additionalProperties: false,
          required: ['access_key'],
          properties: { access_key: { type: 'string', about: 'the key' }, note: { type: 'string', about: 'a note' } },
        },
        ports: {
          type: 'array',
          items: {
            type: 'integer',
            minimum: 1,
            maximum: 65_535,
            description: 'a whole number from 1 to 65535',
            about: 'a port',
          },
          default: [80],
          about: 'the ports',
        },
        day: { type: 'string', about: 'a day' },
      },
    });
  });
});
