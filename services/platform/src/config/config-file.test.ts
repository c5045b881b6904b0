/* eslint-disable no-template-curly-in-string -- a variable of the file looks like one of the language */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ConfigError, readConfigFile } from './config-file.ts';

const word = { type: 'string' };
const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    name: word,
    port: { type: 'integer', minimum: 1, maximum: 65_535 },
    factor: { type: 'number' },
    enabled: { type: 'boolean' },
    level: { enum: ['low', 'high'] },
    wait: { type: 'string', format: 'duration', default: '3s' },
    size: { type: 'string', format: 'bytes' },
    listen: { type: 'string', format: 'host-port' },
    price: { type: 'string', format: 'decimal' },
    key: { type: 'string', pattern: '^[!-~]{8,}$', description: '8 or more visible ASCII characters' },
    words: { type: 'array', items: word },
    ports: { type: 'array', items: { type: 'integer' } },
    server: {
      type: 'object',
      additionalProperties: false,
      required: ['id'],
      default: { id: 'made' },
      properties: {
        id: word,
        retries: { type: 'integer', default: 2 },
        listen: { type: 'string', format: 'host-port' },
      },
    },
    items: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['id'],
        properties: {
          id: word,
          share: { type: 'integer' },
          by: { type: 'object', additionalProperties: { type: 'string', format: 'decimal' } },
        },
      },
    },
  },
};

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-config-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const ENVIRONMENT = {
  SET: 'word',
  NUMBER: '8080',
  FRACTION: '1.5',
  FLAG: 'true',
  OCTAL: '007',
  EMPTY: '',
  YAML: '{ a: [1] } # "x"',
  SECRET: 'hunter2',
};

function read(text: string, schema: object = SCHEMA) {
  const file = path.join(folder, 'test.yaml');
  writeFileSync(file, text);
  return readConfigFile(file, schema, ENVIRONMENT);
}
/** The parsed values without the defaults. */
function valueOf(text: string): unknown {
  const { wait, server, ...rest } = read(text).value as Readonly<Record<string, unknown>>;
  return {
    ...rest,
    ...(wait === '3s' ? {} : { wait }),
    ...(JSON.stringify(server) === '{"id":"made","retries":2}' ? {} : { server }),
  };
}
function errorOf(text: string): string {
  try {
    read(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.replace(folder + path.sep, '');
    throw error;
  }
  throw new Error('it was read');
}

describe('a good file', () => {
  test.each<[string, unknown]>([
    ['name: a\nport: 80', { name: 'a', port: 80 }],
    ['{ name: a, port: 80 }', { name: 'a', port: 80 }],
    ['', {}],
    ['# nothing but a ${COMMENT}\n', {}],
    ['name:\nport: null\nlevel: ""\nwait: ~\nserver:', {}],
    ['server: { id: x, listen: }', { server: { id: 'x', retries: 2 } }],
    ['words: [a, "", ~, b]', { words: ['a', 'b'] }],
    ['words: []', { words: [] }],
    ['items: [{ id: a }, { id: b, share: 2 }]', { items: [{ id: 'a' }, { id: 'b', share: 2 }] }],
    ['name: &n x\nwords: [*n, *n]', { name: 'x', words: ['x', 'x'] }],
    [
      'size: 64MiB\nlisten: "[::1]:80"\nprice: "0.000000001"\nwait: 200ms',
      { size: '64MiB', listen: '[::1]:80', price: '0.000000001', wait: '200ms' },
    ],
    ['factor: 0.5\nenabled: false\nport: 1', { factor: 0.5, enabled: false, port: 1 }],
  ])('%j', (text, value) => {
    expect(valueOf(text)).toEqual(value);
  });

  test('has defaults for settings that are missing or empty', () => {
    const defaults = { wait: '3s', server: { id: 'made', retries: 2 } };

    expect(read('').value).toEqual(defaults);
    expect(read('wait: ""\nserver: ${EMPTY:-}').value).toEqual(defaults);
    expect(read('server: { id: x, retries: }').value).toEqual({ wait: '3s', server: { id: 'x', retries: 2 } });
  });

  test('is named by its absolute path', () => {
    const file = path.join(folder, 'test.yaml');
    read('name: a');

    expect(readConfigFile(path.relative(process.cwd(), file), SCHEMA, {}).files).toEqual([file]);
  });
});

describe('a variable', () => {
  test.each<[string, unknown]>([
    ['name: ${SET}', { name: 'word' }],
    ['name: "${SET}"', { name: 'word' }],
    ["name: '${SET}'", { name: 'word' }],
    ['name: a ${SET} and ${SET:-b}!', { name: 'a word and word!' }],
    ['{ name: ${SET}, words: [${SET}, x] }', { name: 'word', words: ['word', 'x'] }],
    ['{ name: ${NONE:-} }', {}],
    ['server: { id: ${NONE:-x}, listen: ${NONE:-} }', { server: { id: 'x', retries: 2 } }],
    ['name: ${NONE:-}', {}],
    ['name: ${EMPTY:-}', {}],
    ['name: ${EMPTY:-other}', { name: 'other' }],
    ['name: ${SET:-other}', { name: 'word' }],
    ['name: ${NONE:-a:b, c}', { name: 'a:b, c' }],
    ['name: |\n  one ${SET}\n', { name: 'one word\n' }],
    ['name: ${YAML}', { name: '{ a: [1] } # "x"' }],
    ['words: [a, ${NONE:-}, b]', { words: ['a', 'b'] }],
    ['name: ${NUMBER}', { name: '8080' }],
    ['name: ${FLAG}', { name: 'true' }],
    ['port: ${NUMBER}', { port: 8080 }],
    ['port: "${NUMBER}"', { port: 8080 }],
    ['port: &port ${NUMBER}\nname: *port\nports: [*port, *port]', { port: 8080, name: '8080', ports: [8080, 8080] }],
    ['port: 1${NONE:-}0', { port: 10 }],
    ['port: ${NONE:-9090}', { port: 9090 }],
    ['factor: ${FRACTION}', { factor: 1.5 }],
    ['enabled: ${FLAG}\nport: ${NUMBER}\nports: [1, ${NUMBER}]', { enabled: true, port: 8080, ports: [1, 8080] }],
    ['ports: [${NONE:-}, 1, ${NUMBER}]', { ports: [1, 8080] }],
    ['name: $SET ${} $${SET} {SET}', { name: '$SET ${} $word {SET}' }],
  ])('%j', (text, value) => {
    expect(valueOf(text)).toEqual(value);
  });
});

describe('the error of a bad file names the file, the line, the key and the expected value', () => {
  test.each<[string, string]>([
    ['name: a\nnmae: b', 'test.yaml:2: nmae: no such key; expected one of: name, port, '],
    ['server:\n  id: x\n\n  retry: 1', 'test.yaml:4: server.retry: no such key; expected one of: id, retries, listen'],
    [
      'items:\n  - id: a\n  - id: b\n    colour: red',
      'test.yaml:4: items.1.colour: no such key; expected one of: id, share, by',
    ],
    ['name: a\nport: eighty', 'test.yaml:2: port: must be integer'],
    ['port: "80"', 'test.yaml:1: port: must be integer'],
    ['name: ${SET}\nport: "80"', 'test.yaml:2: port: must be integer'],
    ['port: 8.5', 'test.yaml:1: port: must be integer'],
    ['port: 70000', 'test.yaml:1: port: must be <= 65535'],
    ['enabled: yes', 'test.yaml:1: enabled: must be boolean'],
    ['name: 7', 'test.yaml:1: name: must be string'],
    ['name: { a: 1 }', 'test.yaml:1: name: must be string'],
    ['server: x', 'test.yaml:1: server: expected a section with id, retries, listen (must be object)'],
    ['\nserver:\n  retries: 1', 'test.yaml:2: server: the key id is missing'],
    ['items:\n- id: a\n- share: 1', 'test.yaml:3: items.1: the key id is missing'],
    ['level: middle', 'test.yaml:1: level: expected one of: low, high'],
    ['key: short', 'test.yaml:1: key: expected 8 or more visible ASCII characters'],
    ['wait: soon', 'test.yaml:1: wait: expected a duration such as 200ms, 3s, 30m or 7d'],
    ['wait: 3', 'test.yaml:1: wait: expected a duration such as 200ms, 3s, 30m or 7d'],
    ['wait: 1.5s', 'test.yaml:1: wait: expected a duration'],
    ['size: 64MB', 'test.yaml:1: size: expected a size such as 512KiB, 64MiB or 2GiB'],
    ['size: 1024', 'test.yaml:1: size: expected a size'],
    ['listen: 8080', 'test.yaml:1: listen: expected an address such as 127.0.0.1:8080'],
    ['listen: localhost', 'test.yaml:1: listen: expected an address'],
    ['listen: a:70000', 'test.yaml:1: listen: expected an address'],
    ['price: 0.08', 'test.yaml:1: price: expected a decimal in quotes such as "0.08", with at most nine places'],
    ['price: "1e3"', 'test.yaml:1: price: expected a decimal'],
    ['price: "0.0000000001"', 'test.yaml:1: price: expected a decimal'],
    ['price: "-1"', 'test.yaml:1: price: expected a decimal'],
    ['price: "01"', 'test.yaml:1: price: expected a decimal'],
    ['price: "1234567890123"', 'test.yaml:1: price: expected a decimal'],
    ['items:\n  - id: a\n    by: { "720": "1",\n      768P: x }', 'test.yaml:4: items.0.by.768P: expected a decimal'],
    ['items:\n  - id: a\n    by:\n      "720": x', 'test.yaml:4: items.0.by.720: expected a decimal'],
    ['words:\n  - ${EMPTY:-}\n  - a\n  - [b]', 'test.yaml:4: words.1: must be string'],
    ['port:\n  ${SET}', 'test.yaml:1: port: must be integer'],
    ['port: ${OCTAL}', 'test.yaml:1: port: must be integer'],
    ['enabled: ${NUMBER}', 'test.yaml:1: enabled: must be boolean'],
    ['port: ${FRACTION}', 'test.yaml:1: port: must be integer'],
    ['- a\n- b', 'test.yaml:1: the file: must be object'],
    ['just a text', 'test.yaml:1: the file: must be object'],
    ['name: a\n\nport: ${NONE}', 'test.yaml:3: ${NONE} is not set; set it, or give a default as ${NONE:-…}'],
    ['name: ${EMPTY}', 'test.yaml:1: ${EMPTY} is not set'],
    ['name: a ${SET} b\nwords:\n  - x\n  - "${NONE}"', 'test.yaml:4: ${NONE} is not set'],
    ['name: ${NONE:-a\nport: x }', 'test.yaml:2: port: must be integer'],
    ['name: a\nname: b', 'test.yaml:2: not YAML: Map keys must be unique'],
    ['name: [a', 'test.yaml:1: not YAML: '],
    ['name: a\n  port: 1', 'test.yaml:'],
    ['name: *gone', 'test.yaml: not YAML: Unresolved alias'],
  ])('%j', (text, message) => {
    expect(errorOf(text)).toContain(message);
  });

  test('and each of several wrong settings has a line of its own, in the order of the schema', () => {
    const lines = errorOf('port: x\nnmae: b\nserver: { retries: z }\nwait: soon').split('\n');

    expect(lines.map((line) => /:(\d: [^:]+): /.exec(line)?.[1])).toEqual([
      '2: nmae',
      '1: port',
      '4: wait',
      '3: server',
      '3: server.retries',
    ]);
  });

  test('and not the value, which may be a secret', () => {
    for (const text of [
      'key: ${SECRET}',
      'port: ${SECRET}',
      'level: ${SECRET}',
      'price: ${SECRET}',
      'words: ${SECRET}',
    ])
      expect(errorOf(text)).not.toContain('hunter2');
  });

  test('and says so when the file does not exist', () => {
    expect(() => readConfigFile(path.join(folder, 'none.yaml'), SCHEMA, {})).toThrow(
      /none\.yaml: cannot be read \(.*\); name the file in REELGATE_CONFIG$/,
    );
  });

  test('also for a fault that no schema expresses', () => {
    const { fault } = read('name: a\nitems:\n  - id: a\n  - id: a');

    expect(fault(['items', 1, 'id'], 'must be unique').message).toMatch(/test\.yaml:4: items\.1\.id: must be unique$/);
    expect(fault(['server', 'id'], 'must be there').message).toMatch(/test\.yaml:1: server\.id: must be there$/);
    expect(fault([], 'must be more').message).toMatch(/test\.yaml:1: the file: must be more$/);
  });
});
