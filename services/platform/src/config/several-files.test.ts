/* eslint-disable no-template-curly-in-string -- a variable of the file looks like one of the language */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readConfigFile } from './config-file.ts';

const word = { type: 'string' };
const entry = {
  type: 'object',
  additionalProperties: false,
  required: ['id'],
  properties: { id: word, address: word, key: word, count: { type: 'integer' } },
};
const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    server: {
      type: 'object',
      additionalProperties: false,
      properties: {
        name: word,
        level: { enum: ['low', 'high'] },
        port: { type: 'integer' },
        words: { type: 'array', items: word },
      },
    },
    items: { type: 'array', default: [], items: entry },
    others: { type: 'array', items: entry },
    table: { type: 'object', additionalProperties: word },
  },
};

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-files-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const at = (...names: string[]): string => path.join(folder, ...names);

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  }
}

const read = (...names: string[]) =>
  readConfigFile(names.map((name) => at(name)).join(':'), SCHEMA, { NUMBER: '7' }, { items: 'id' });

function refusalOf(...names: string[]): string {
  try {
    read(...names);
  } catch (error) {
    return (error as Error).message.replaceAll(folder + path.sep, '');
  }
  throw new Error('it was read');
}

describe('several files', () => {
  test.each<[string, string, string, unknown]>([
    [
      'sections merge by key',
      'server: { name: a }\ntable: { x: one }',
      'server: { port: 1 }\ntable: { y: two }',
      { server: { name: 'a', port: 1 }, table: { x: 'one', y: 'two' }, items: [] },
    ],
    [
      'entries of a list with ids follow one another',
      'items: [{ id: a }, { id: b }]',
      'items: [{ id: c }]',
      { items: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] },
    ],
    [
      'entries with the same id merge by key',
      'items: [{ id: a, address: x }, { id: b }]',
      'items: [{ id: c }, { id: a, key: y }]',
      { items: [{ id: 'a', address: 'x', key: 'y' }, { id: 'b' }, { id: 'c' }] },
    ],
    [
      'an empty value in one file leaves the value of the other',
      'server: { name: , port: 1 }\nitems:',
      'server: { name: a }\nitems: [{ id: a }]',
      { server: { name: 'a', port: 1 }, items: [{ id: 'a' }] },
    ],
    [
      'an empty file adds nothing',
      '# nothing\n',
      'server: { port: ${NUMBER} }\nitems: [{ id: a, count: ${NUMBER} }]',
      { server: { port: 7 }, items: [{ id: 'a', count: 7 }] },
    ],
  ])('%s', (_rule, first, second, value) => {
    write({ 'a.yaml': first, 'b.yaml': second });

    expect(read('a.yaml', 'b.yaml').value).toEqual(value);
  });

  test.each<[string, string, string, string]>([
    [
      'a scalar in both',
      'server:\n  name: a',
      '\nserver: { name: a }',
      'b.yaml:2: server.name: is also set at a.yaml:2; expected it in one of the two',
    ],
    [
      'a list without ids in both',
      'server: { words: [a] }',
      'server:\n  words: [b]',
      'b.yaml:2: server.words: is also set at a.yaml:1; expected it in one of the two',
    ],
    [
      'a list that the program does not name in both',
      'others: [{ id: a }]',
      'others: [{ id: b }]',
      'b.yaml:1: others: is also set at a.yaml:1; expected it in one of the two',
    ],
    [
      'a scalar of the same entry in both',
      'items:\n- id: x\n- id: a\n  address: x',
      'items:\n- { id: a,\n    address: y }',
      'b.yaml:3: items.0.address: is also set at a.yaml:4; expected it in one of the two',
    ],
    [
      'a section in one and a scalar in the other',
      'table: { x: one }',
      'table: one',
      'b.yaml:1: table: is also set at a.yaml:1; expected it in one of the two',
    ],
    ['a file that is no section', 'server: { name: a }', '- a', 'b.yaml:1: the file: must be object'],
    ['a file that is no YAML', 'server: { name: a }', 'a: [', 'b.yaml:1: not YAML: '],
    ['an unknown key', 'server: { name: a }', '\nserver: { nmae: b }', 'b.yaml:2: server.nmae: no such key'],
    ['a wrong value', 'server: { level: middle }', 'server: { name: b }', 'a.yaml:1: server.level: expected one of'],
    ['a fault of an entry', 'items: [{ id: a }]', 'items:\n- id: b\n  count: x', 'b.yaml:3: items.0.count: must be'],
    ['an entry without its id', 'items: [{ id: a }]', 'items:\n- count: 1', 'b.yaml:2: items.0: the key id is missing'],
    ['an unset variable', 'table: { x: y }', '\ntable: { z: "${NONE}" }', 'b.yaml:2: ${NONE} is not set'],
  ])('%s: the refusal names the file, the line and the key', (_what, first, second, message) => {
    write({ 'a.yaml': first, 'b.yaml': second });

    expect(refusalOf('a.yaml', 'b.yaml')).toContain(message);
  });

  test('the same id twice in one file stays twice, for the checks of the whole to name', () => {
    write({ 'a.yaml': 'items: [{ id: a }, { id: a }]', 'b.yaml': 'items: [{ id: b }]' });
    const config = read('a.yaml', 'b.yaml');

    expect(config.value).toEqual({ items: [{ id: 'a' }, { id: 'a' }, { id: 'b' }] });
    expect(config.fault(['items', 2, 'id'], 'x').message).toBe(`${at('b.yaml')}:1: items.0.id: x`);
  });

  test('a relative path belongs to the folder of the file that names it', () => {
    write({ 'one/a.yaml': 'server: { name: a }', 'two/b.yaml': 'table: { x: ./y }\nitems: [{ id: a, key: z }]' });
    const config = read('one/a.yaml', 'two/b.yaml');

    expect(config.resolve(['server', 'name'], './a')).toBe(at('one/a'));
    expect(config.resolve(['table', 'x'], './y')).toBe(at('two/y'));
    expect(config.resolve(['items', 0, 'key'], 'z')).toBe(at('two/z'));
    expect(config.resolve(['server', 'port'], 'default')).toBe(at('one/default'));
  });
});

describe('a folder', () => {
  test('gives its *.yaml files in the order of their names, without hidden ones', () => {
    write({
      '20-more.yaml': 'items: [{ id: b }]',
      '10-first.yaml': 'items: [{ id: a }]',
      '.hidden.yaml': 'nonsense: [',
      'notes.txt': 'nonsense: [',
    });

    expect(read('.').files).toEqual([at('10-first.yaml'), at('20-more.yaml')]);
    expect(read('.').value).toEqual({ items: [{ id: 'a' }, { id: 'b' }] });
  });

  test('can be named beside files, and each file counts once', () => {
    write({ 'a.yaml': 'server: { name: a }', 'lists/b.yaml': 'items: [{ id: b }]' });
    symlinkSync(at('lists/b.yaml'), at('lists/c.yaml'));

    expect(read('a.yaml', 'lists', 'a.yaml', 'lists/b.yaml').value).toEqual({
      server: { name: 'a' },
      items: [{ id: 'b' }],
    });
  });

  test('without a *.yaml file is refused, and so is one that does not exist', () => {
    write({ 'empty/a.txt': '' });

    expect(refusalOf('empty')).toContain('empty: has no *.yaml file; expected the files of the configuration');
    expect(refusalOf('none')).toContain('none: cannot be read (ENOENT); name the file in REELGATE_CONFIG');
  });

  test('is followed as Kubernetes mounts a ConfigMap, and has another version after the swap', () => {
    const write1 = (revision: string, name: string): void =>
      write({
        [`..${revision}/a.yaml`]: `server: { name: ${name} }`,
        [`..${revision}/b.yaml`]: `table: { x: ${name} }`,
      });
    write1('2026_1', 'old');
    symlinkSync('..2026_1', at('..data'));
    for (const name of ['a.yaml', 'b.yaml']) symlinkSync(path.join('..data', name), at(name));
    const before = read('.');

    expect(before.value).toMatchObject({ server: { name: 'old' }, table: { x: 'old' } });
    expect(before.versionNow()).toBe(before.version);

    write1('2026_2', 'new');
    symlinkSync('..2026_2', at('..data_tmp'));
    renameSync(at('..data_tmp'), at('..data'));
    rmSync(at('..2026_1'), { recursive: true });

    expect(before.versionNow()).not.toBe(before.version);
    expect(read('.').value).toMatchObject({ server: { name: 'new' }, table: { x: 'new' } });
    expect(read('.').version).toBe(before.versionNow());
  });
});

describe('a value from a file', () => {
  const items = (key: string): string => `items:\n- id: a\n- id: b\n  key: ${key}`;

  test.each<[string, string, string]>([
    ['hunter2\n', 'hunter2', 'without the newline at its end'],
    ['hunter2\r\n', 'hunter2', 'without the newline of another system'],
    [' a: "b" # c }', ' a: "b" # c }', 'unchanged, as no part of the YAML'],
    ['one\ntwo\n\n', 'one\ntwo\n', 'with its inner lines'],
  ])('%j is taken as %j', (text, value) => {
    write({ secret: text, 'a.yaml': items(`\${file:${at('secret')}}`) });

    expect(read('a.yaml').value).toMatchObject({ items: [{ id: 'a' }, { id: 'b', key: value }] });
  });

  test('can be a part of a text, or a number', () => {
    write({
      secret: '42\n',
      'a.yaml': `items: [{ id: "x-\${file:${at('secret')}}-y", count: \${file:${at('secret')}} }]`,
    });

    expect(read('a.yaml').value).toEqual({ items: [{ id: 'x-42-y', count: 42 }] });
  });

  test.each<[string, () => void, RegExp]>([
    ['is missing', () => undefined, /^a\.yaml:4: items\.1\.key: the file secret cannot be read \(ENOENT\); expected/],
    ['is empty', () => write({ secret: '\n' }), /^a\.yaml:4: items\.1\.key: the file secret is empty; expected/],
    ['is a folder', () => mkdirSync(at('secret')), /items\.1\.key: the file secret cannot be read \(.*regular file\)/],
    ['is too large', () => write({ secret: 'x'.repeat(65_537) }), /the file secret cannot be read \(.*65536 bytes\)/],
    ['is no text', () => writeFileSync(at('secret'), Buffer.from([0xff, 0xfe])), /the file secret cannot be read/],
  ])('is refused with file and key where the file %s', (_what, make, message) => {
    write({ 'a.yaml': items(`\${file:${at('secret')}}`) });
    make();

    expect(refusalOf('a.yaml')).toMatch(message);
  });

  test('is refused where its path is relative', () => {
    write({ secret: 'x', 'a.yaml': items('${file:secret}') });

    expect(refusalOf('a.yaml')).toBe('a.yaml:4: items.1.key: expected an absolute path after file:, not secret');
  });

  test('changes the version when it changes, also as Kubernetes changes a Secret', () => {
    write({ '..1/key': 'old', 'a.yaml': items(`\${file:${at('key')}}`) });
    symlinkSync('..1', at('..data'));
    symlinkSync('..data/key', at('key'));
    const before = read('a.yaml');
    write({ '..2/key': 'new' });
    symlinkSync('..2', at('..tmp'));
    renameSync(at('..tmp'), at('..data'));

    expect(before.versionNow()).not.toBe(before.version);
    expect(read('a.yaml').value).toMatchObject({ items: [{ id: 'a' }, { id: 'b', key: 'new' }] });
  });

  test('prints as *** in every refusal', () => {
    write({ secret: 'hunter2', 'a.yaml': items(`\${file:${at('secret')}}`) });
    const { fault } = read('a.yaml');

    expect(fault(['items', 1, 'key'], 'no such key as x-hunter2').message).toMatch(
      /items\.1\.key: no such key as x-\*\*\*$/,
    );
  });
});
