import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { patientClock } from '../../../testing/patient-clock.ts';
import { channelFactory } from '../adapter-channel.ts';
import type { Channel } from '../channel.ts';
import { openScriptedUpstream } from '../adapter-contract/scripted-upstream.ts';
import type { ScriptedUpstream } from '../adapter-contract/scripted-upstream.ts';
import { loadOwnAdapter } from './load-own-adapter.ts';
import type { OpenedAdapter } from './load-own-adapter.ts';
import { testOwnAdapter } from './test-own-adapter.ts';

const EXAMPLE = path.join(import.meta.dirname, '../../../adapter-kit/example');
const folder = mkdtempSync(path.join(tmpdir(), 'own-adapters-'));
const file = path.join(folder, 'borealis.ts');
const record = path.join(folder, 'borealis.tested.json');
const whole = readFileSync(path.join(EXAMPLE, 'borealis.ts'), 'utf8');

beforeEach(() => {
  cpSync(EXAMPLE, folder, { recursive: true });
  rmSync(record, { force: true });
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Opens the example with one of its texts replaced. */
async function openChanged(from: string | RegExp, to: string): Promise<OpenedAdapter> {
  const changed = whole.replace(from, () => to);
  expect(changed).not.toBe(whole);
  writeFileSync(file, changed);
  return open(file);
}

const opened: OpenedAdapter[] = [];
async function open(named: string): Promise<OpenedAdapter> {
  const one = await loadOwnAdapter(named, patientClock);
  opened.push(one);
  await one.adapter.prepare({ options: {} });
  return one;
}
afterEach(() => Promise.all(opened.splice(0).map((one) => one.adapter.close())));

describe('the adapter of an operator', () => {
  test('passes the contract suite, and the record of it names its hash, that of its fixtures, and the kit', async () => {
    const tested = await testOwnAdapter(file);

    expect(tested.filter(({ failure }) => failure !== undefined)).toEqual([]);
    expect(JSON.parse(readFileSync(record, 'utf8'))).toEqual({
      adapter: expect.stringMatching(/^[0-9a-f]{64}$/),
      fixtures: expect.stringMatching(/^[0-9a-f]{64}$/),
      kit: '1.0.0',
      facts: { kit: 1, endpoints: ['video.generation'], credential: { header: 'authorization', scheme: 'Bearer' } },
    });
  });

  test('that breaks a guarantee gets no record, and the case is named', async () => {
    writeFileSync(file, whole.replace('encodeURIComponent(upstreamId)', 'upstreamId'));

    const failed = (await testOwnAdapter(file)).filter(({ failure }) => failure !== undefined);

    expect(failed.map(({ name }) => name)).toEqual(['poll encodes the id so that the URL cannot point elsewhere']);
    expect(existsSync(record)).toBe(false);
  });

  test.each([
    ['export default', "import { x } from 'node:fs';\nexport default", 'node:fs: an adapter imports types only'],
    ['export default', "export * from 'node:fs';\nexport default", 'node:fs: an adapter imports types only'],
    ['export default', 'const a = ', ':1: `export default (kit) => adapter` is missing'],
    ['export default', 'await 1;\nexport default', ':1: an adapter waits for nothing'],
    ['export default', 'const a = }\nexport default', 'is not TypeScript with types alone'],
    ['export default', 'enum A { B }\nexport default', 'is not TypeScript with types alone'],
    ['export default', "throw new Error('no');\nexport default", ':5: throws Error: no'],
    ['export default', 'while (true);\nexport default', 'computes for more than 1000 ms of processor time'],
    ["header: 'authorization'", 'header: 7', ':29: credential.header: '],
    ["'video.generation'", "'video.else'", ':28: endpoints.0: '],
    ['kit: 1', 'kit: 2', ':27: kit: '],
    [
      'kit: 1,',
      "kit: 1,\n    options: { properties: { a: { type: 'string', pattern: '^(a+)+$' } } },",
      'options.properties.a',
    ],
    ['kit: 1,', "kit: 1,\n    options: { properties: { a: { $ref: '#' } } },", 'options.properties.a'],
    ['kit: 1,', "kit: 1,\n    headers: { 'x-a': 'b\\r\\nx-c: d' },", ':28: headers.x-a'],
    ['kit: 1,', 'kit: 1,\n    headers: JSON.parse(\'{"__proto__":{}}\'),', 'has a member __proto__'],
  ])('is refused with its line and the reason: %s is %s', async (from, to, reason) => {
    await expect(openChanged(from, to)).rejects.toThrow(reason);
  });

  test.each(['kling', 'relay'])('does not take the name of a built-in one: %s', async (name) => {
    const builtIn = path.join(folder, `${name}.ts`);
    writeFileSync(builtIn, whole);

    await expect(loadOwnAdapter(builtIn)).rejects.toThrow(`the name ${name} belongs to a built-in adapter`);
  });

  test.each([
    ['[', 'expected JSON'],
    ['{}', 'expected a list of cases'],
  ])('with the fixture %s is not tested, and the fault names the file', async (text, reason) => {
    const fixture = path.join(folder, 'borealis.fixtures/lists.json');
    writeFileSync(fixture, text);

    await expect(testOwnAdapter(file)).rejects.toThrow(`${fixture}: ${reason}`);
  });
});

describe('a channel with the adapter of an operator', () => {
  let upstream: ScriptedUpstream;
  beforeAll(async () => {
    upstream = await openScriptedUpstream();
  });
  afterAll(() => upstream.close());

  const { signal } = new AbortController();
  const order = { key: 'task_1-1', kind: 'generation', model: 'm', content: [{ text: 'a fox' }] } as const;
  const openChannel = ({ name, adapter }: OpenedAdapter): Channel =>
    channelFactory(adapter)(channelSettings({ adapter: name, baseUrl: upstream.url }), systemClock);

  test('submits an order and polls its work', async () => {
    const channel = openChannel(await open(file));
    upstream.script(
      { status: 201, json: { render: 'r-1' } },
      { status: 200, json: { state: 'finished', link: 'https://cdn.borealis.example/a.mp4' } },
    );

    expect(await channel.submit(order, signal)).toEqual({ outcome: 'accepted', upstreamId: 'r-1', status: 201 });
    expect(await channel.poll('r-1', signal)).toMatchObject({ report: { phase: 'succeeded' } });
    await channel.close();
  });

  test('goes on after an operation that never ends, which counts as one that failed', async () => {
    const channel = openChannel(
      await openChanged('*poll(upstreamId) {', '*poll(upstreamId) { while (upstreamId === "loop");'),
    );
    upstream.script({ status: 200, json: { state: 'working' } });

    expect(await channel.poll('loop', signal)).toMatchObject({
      found: false,
      gone: false,
      error: expect.stringContaining('computes for more than 100 ms'),
    });
    expect(await channel.poll('r-1', signal)).toMatchObject({ report: { phase: 'running' } });
    await channel.close();
  });

  test.each([
    ['a header that no request has', "headers: { 'transfer-encoding': 'chunked' }"],
    ['a host that it does not declare', "host: 'constructor'"],
  ])('has sent nothing when the request has %s, and the fault counts as that of one account', async (_what, member) => {
    const channel = openChannel(
      await openChanged(
        'const unfit =',
        `if (attempt.model === 'm') return { method: 'POST', path: '/', json: {}, ${member} };\n const unfit =`,
      ),
    );
    upstream.script();

    const refused = await channel.submit(order, signal);
    expect(refused).toMatchObject({ outcome: 'refused', fault: 'channel' });
    expect(refused).not.toHaveProperty('isUnreachable');
    expect(upstream.requests).toEqual([]);
    await channel.close();
  });

  test('has sent nothing when the adapter throws at the order', async () => {
    const channel = openChannel(
      await openChanged('const unfit =', "if (attempt.model === 'm') throw new Error('no');\n const unfit ="),
    );
    upstream.script();

    expect(await channel.submit(order, signal)).toMatchObject({ outcome: 'refused', fault: 'channel' });
    expect(upstream.requests).toEqual([]);
    await channel.close();
  });
});
