import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { testOwnAdapter } from '@reelgate/tasks/app';
import { tasksConfig } from '@reelgate/tasks/config';
import type { TestedAdapter } from '@reelgate/tasks/config';
import { checkOwnAdapters } from './read-config.ts';
import { readProgramConfig } from './program-config.ts';

const EXAMPLE = path.join(import.meta.dirname, '../../../services/tasks/adapter-kit/example');
const work = mkdtempSync(path.join(tmpdir(), 'reelgate-own-'));
const tested = path.join(work, 'tested');
const folder = path.join(work, 'used');
const at = (name: string): string => path.join(folder, name);

beforeAll(async () => {
  cpSync(EXAMPLE, tested, { recursive: true });
  const cases = await testOwnAdapter(path.join(tested, 'borealis.ts'));
  expect(cases.filter(({ failure }) => failure !== undefined)).toEqual([]);
});
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  cpSync(tested, folder, { recursive: true });
});
const used: TestedAdapter[] = [];
afterEach(() => Promise.all(used.splice(0).map(({ adapter }) => adapter.close())));
afterAll(() => {
  rmSync(work, { recursive: true });
});

const ALPHA = { kind: 'video', duration: [4, 15], resolutions: ['768P'], ratios: ['16:9'] };

/** A configuration with a channel of the adapter, but for the changes. The file of the adapter is line 3. */
function read(channel: object = {}, adapters: unknown = ['./borealis.ts']): ReturnType<typeof readProgramConfig> {
  const whole = {
    id: 'north',
    adapter: 'borealis',
    base_url: 'https://upstream.example',
    api_key: 'key',
    upstream_account: 'vendor',
    endpoints: ['video.generation'],
    models: { 'Alpha-H3': 'up' },
    ...channel,
  };
  const config = {
    adapters,
    models: { 'Alpha-H3': ALPHA },
    channels: [whole],
    prices: { 'Alpha-H3': { per_second: '0.08' } },
  };
  writeFileSync(at('reelgate.yaml'), JSON.stringify(config, undefined, 1));
  const read = readProgramConfig({ REELGATE_CONFIG: at('reelgate.yaml') });
  used.push(...(read.value as { readonly adapters: readonly TestedAdapter[] }).adapters);
  return read;
}

describe('an adapter that passed its tests', () => {
  test('serves the channels that name it, and gives no warning', () => {
    const { value, publicUrl, warnings } = read();

    expect(tasksConfig(value, publicUrl).channels).toMatchObject([
      {
        id: 'north',
        adapter: 'borealis',
        ownAdapter: { name: 'borealis', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    ]);
    expect(warnings).toEqual([]);
  });

  test('needs no fixtures where the service runs', () => {
    rmSync(at('borealis.fixtures'), { recursive: true });

    expect(() => read()).not.toThrow();
  });

  test.each<[string, object, RegExp]>([
    [
      'an endpoint that it does not have',
      { endpoints: ['video.context_ir'] },
      /endpoints\.0: the adapter borealis has no/,
    ],
    ['an option', { options: { mode: 'fast' } }, /options/],
    ['a further host', { hosts: { files: 'https://files.example' } }, /hosts/],
    ['a secret of callbacks', { callback_secret: 'secret' }, /callback_secret/],
    ['no upstream account', { upstream_account: undefined }, /upstream_account/],
    ['another name', { adapter: 'aurora' }, /adapter: expected one of: .*xai, borealis, relay/],
  ])('is checked like a built-in one: a channel with %s is refused', (_what, channel, expected) => {
    expect(() => read(channel)).toThrow(expected);
  });

  test.each([['borealis.ts'], ['borealis.tested.json']])('is read again when %s changes', (name) => {
    const { file } = read();
    expect(file.versionNow()).toBe(file.version);

    appendFileSync(at(name), '\n');

    expect(file.versionNow()).not.toBe(file.version);
  });
});

test('options that the code of an adapter refuses are refused before a reload applies anything', async () => {
  const text = readFileSync(at('borealis.ts'), 'utf8');
  const strict = text
    .replace('openCalls: () => ({', "openCalls: ({ options }) => ({ ...(options['mode'] === 'odd' ? refuse() : {}),")
    .replace(
      '  return {\n    kit: 1,',
      "  const refuse = (): never => { throw new Error('no such mode'); };\n  return {\n    kit: 1,\n    options: { type: 'object' },",
    );
  writeFileSync(at('borealis.ts'), strict);
  const cases = await testOwnAdapter(at('borealis.ts'));
  expect(cases.filter(({ failure }) => failure !== undefined)).toEqual([]);

  await expect(checkOwnAdapters(read({ options: { mode: 'even' } }))).resolves.toBeUndefined();
  await expect(checkOwnAdapters(read({ options: { mode: 'odd' } }))).rejects.toThrow(
    /channels\.0\.options: the adapter borealis refuses them: Error: no such mode/,
  );
});

describe('at its place in the configuration is refused', () => {
  const lineOf = (reason: string): RegExp =>
    new RegExp(String.raw`reelgate\.yaml:3: adapters\.0: .*borealis\.ts:1: ${reason}`);

  test('an adapter without a record of its tests, with the command that writes one', () => {
    rmSync(at('borealis.tested.json'));

    expect(() => read()).toThrow(lineOf('has not passed its tests; run `reelgate adapter test .*borealis.ts`$'));
  });

  test('an adapter that has changed by one byte', () => {
    appendFileSync(at('borealis.ts'), '\n');

    expect(() => read()).toThrow(lineOf('has changed since it passed its tests; run `reelgate adapter test'));
  });

  test('an adapter whose fixtures have changed', () => {
    appendFileSync(at('borealis.fixtures/polls.json'), '\n');

    expect(() => read()).toThrow(lineOf('its fixtures have changed since it passed its tests'));
  });

  test('an adapter that was tested with another version of the kit', () => {
    const record = JSON.parse(readFileSync(at('borealis.tested.json'), 'utf8')) as object;
    writeFileSync(at('borealis.tested.json'), JSON.stringify({ ...record, kit: '2.1.0' }));

    expect(() => read()).toThrow(lineOf('has passed its tests with kit 2.1.0, not 1.0.0'));
  });

  test('an adapter whose record has no facts, or wrong ones', () => {
    const { facts, ...record } = JSON.parse(readFileSync(at('borealis.tested.json'), 'utf8')) as { facts: object };
    writeFileSync(at('borealis.tested.json'), JSON.stringify(record));
    expect(() => read()).toThrow(lineOf('has passed its tests with an older program'));

    writeFileSync(at('borealis.tested.json'), JSON.stringify({ ...record, facts: { ...facts, endpoints: [] } }));
    expect(() => read()).toThrow(lineOf('borealis.tested.json: facts.endpoints: '));
  });

  test('an adapter that says other facts than its record, when it runs', async () => {
    const record = JSON.parse(readFileSync(at('borealis.tested.json'), 'utf8')) as { facts: object };
    const facts = { ...record.facts, headers: { 'x-mode': 'fast' } };
    writeFileSync(at('borealis.tested.json'), JSON.stringify({ ...record, facts }));

    await expect(checkOwnAdapters(read())).rejects.toThrow(/borealis\.ts:1: says other facts than in its tests; run/);
  });

  test('an adapter whose record is no JSON', () => {
    writeFileSync(at('borealis.tested.json'), '{');

    expect(() => read()).toThrow(lineOf(String.raw`the record of its tests .*borealis\.tested\.json cannot be read`));
  });

  test('a file that is missing', () => {
    expect(() => read({}, ['./aurora.ts'])).toThrow(/adapters\.0: .*aurora\.ts:1: cannot be read \(ENOENT\)/);
  });

  test('a second adapter of the same name', () => {
    cpSync(tested, at('others'), { recursive: true });

    expect(() => read({}, ['./borealis.ts', './others/borealis.ts'])).toThrow(
      /adapters\.1: .*has the name of .*borealis\.ts; expected another name/,
    );
  });

  test.each<[string, unknown, RegExp]>([
    ['a text in place of the list', './borealis.ts', /adapters: expected/],
    ['a number in the list', [7], /adapters\.0: expected/],
  ])('%s', (_what, adapters, expected) => {
    expect(() => read({}, adapters)).toThrow(expected);
  });
});
