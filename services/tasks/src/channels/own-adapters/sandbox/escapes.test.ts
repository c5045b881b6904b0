import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { patientClock } from '../../../../testing/patient-clock.ts';
import { loadOwnAdapter } from '../load-own-adapter.ts';
import { newSandbox } from './new-sandbox.ts';
import type { AdapterSandbox } from './new-sandbox.ts';
import { wrapAdapter } from '../wrap-adapter.ts';

const SECRET = 'a-secret-of-the-environment';
process.env['REELGATE_TEST_SECRET'] = SECRET;
const FACTS = { kit: 1, endpoints: ['video.generation'], credential: { header: 'authorization' } } as const;
/** An adapter that runs the model of its order as code. */
const HOSTILE = `export default (kit) => ({
  ...${JSON.stringify(FACTS)},
  callbacks: { readId: (body) => run(body.code) },
  openCalls: () => ({
    buildSubmit: (attempt) => run(attempt.model, attempt),
    readSubmit: (answer) => run(answer.body),
    poll: (code) => run(code),
    *test() { yield { method: 'GET', path: '/' }; return { ok: true, detail: 'well' }; },
  }),
});
const run = (code, attempt) => new (() => {}).constructor('attempt', code)(attempt);
`;

/** Code inside one native call, in which the engine counts no processor time. */
const SILENT = 'return [].indexOf.call({ length: 2 ** 53 - 1 }, 1)';

const folder = mkdtempSync(path.join(tmpdir(), 'escapes-'));
const opened: AdapterSandbox[] = [];
afterAll(async () => {
  await Promise.all(opened.map((sandbox) => sandbox.close()));
  rmSync(folder, { recursive: true });
  delete process.env['REELGATE_TEST_SECRET'];
});

async function openCalls(clock = patientClock) {
  const sandbox = newSandbox({ file: path.join(folder, 'hostile.ts'), text: HOSTILE }, clock);
  opened.push(sandbox);
  const adapter = wrapAdapter(FACTS, sandbox);
  await adapter.prepare({ options: {} });
  return adapter.openCalls({ options: {} });
}
const shared = openCalls();
type HostileCalls = Awaited<typeof shared>;

/** Runs code as the answer to an order. */
async function run(calls: HostileCalls, code: string): Promise<unknown> {
  return calls.buildSubmit({ key: 'task_1-1', kind: 'generation', model: code, content: [] });
}

/** What an expression is inside, as a text. */
async function evaluate(calls: HostileCalls, expression: string): Promise<unknown> {
  const ran = await run(
    calls,
    `let is; try { is = String(${expression}); } catch (error) { is = 'throws ' + error; }
    return { unfit: is };`,
  );
  return (ran as { readonly unfit?: string }).unfit;
}

/** The priorities of the threads of this process. A higher number goes later. */
function readPriorities(): readonly number[] {
  return readdirSync('/proc/self/task').map((id) => {
    const [, fields = ''] = readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ');
    return Number(fields.split(' ')[16]);
  });
}

async function assertWell(calls: HostileCalls): Promise<void> {
  expect(await evaluate(calls, '1 + 1')).toBe('2');
}

describe('code of an adapter', () => {
  test.each([
    ...['process', 'require', 'module', 'exports', '__filename', 'global', 'self', 'window', 'fetch', 'XMLHttpRequest'],
    ...[
      'WebSocket',
      'WebAssembly',
      'Atomics',
      'SharedArrayBuffer',
      'Worker',
      'MessageChannel',
      'postMessage',
      'Buffer',
    ],
    ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'structuredClone', 'console', 'performance'],
    ...['navigator', 'crypto', 'localStorage', 'URL', 'TextDecoder', 'Promise', 'WeakRef', 'FinalizationRegistry'],
    ...['eval', 'Function', 'Deno', 'std', 'os', 'scriptArgs', 'print', 'Date.now', 'Math.random'],
  ])('has no %s', async (name) => {
    expect(await evaluate(await shared, `typeof ${name}`)).toBe('undefined');
  });

  test('has only the globals of the language', async () => {
    const names = String(await evaluate(await shared, 'Object.getOwnPropertyNames(globalThis)')).split(',');

    expect(names.filter((name) => !Object.hasOwn(globalThis, name))).toEqual([]);
    expect(names.filter((name) => /^[a-z]/.test(name)).toSorted()).toEqual(
      [
        ...['decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'globalThis', 'isFinite'],
        ...['isNaN', 'parseFloat', 'parseInt', 'undefined', 'unescape'],
      ].toSorted(),
    );
  });

  test.each([
    "globalThis.constructor.constructor('return typeof process')()",
    "(() => {}).constructor('return typeof process')()",
    "(function* () {}).constructor('yield typeof process')().next().value",
    "Reflect.construct((() => {}).constructor, ['return typeof require'])()",
    "[].map.constructor('return typeof fetch')()",
    "Object.getPrototypeOf(async () => {}).constructor('return 1').call.constructor('return typeof process')()",
    "(() => { try { null.x } catch (error) { return error.constructor.constructor('return typeof process')() } })()",
    "attempt.constructor.constructor('return typeof process')()",
    "attempt.content.constructor.constructor('return typeof process')()",
  ])('finds no way out through constructors: %s', async (expression) => {
    expect(await evaluate(await shared, expression)).toBe('undefined');
  });

  test.each([
    'new Date()',
    'Date()',
    'new Date().constructor()',
    'new (new Date(0).constructor)()',
    'Reflect.construct(Date, [])',
  ])('has no clock: %s', async (expression) => {
    expect(await evaluate(await shared, expression)).toMatch(/^throws TypeError: an adapter has no clock/);
  });

  test.each([
    "import('node:fs')",
    'import(`node:fs`)',
    "import/* a comment */('node:fs')",
    `\`\${{ p: import('node:fs') }}\``,
    '(() => {}).constructor("return import(\'node:fs\')")()',
    "import('data:text/javascript,export default process')",
    `import(${JSON.stringify(import.meta.filename)})`,
    "import('./kit.ts')",
    "import('std')",
    "import({ toString: () => 'node:fs' })",
  ])('gets no module: %s', async (expression) => {
    const calls = await shared;
    await evaluate(calls, `(globalThis.got = undefined, globalThis.got = ${expression}, ${expression})`);
    await evaluate(calls, `${expression}.then((module) => { globalThis.got = module; })`);

    expect(
      await evaluate(calls, 'globalThis.got === undefined ? "none" : Object.prototype.toString.call(globalThis.got)'),
    ).toMatch(/^(none|\[object (Promise|String)\])$/);
    expect(await evaluate(calls, 'globalThis.got?.readFileSync')).toBe('undefined');
  });

  test('sees nothing of the service in the stacks of errors', async () => {
    const stack = await evaluate(
      await shared,
      "(Error.prepareStackTrace = (error, sites) => sites, new Error('here').stack, delete Error.prepareStackTrace, new Error('here').stack)",
    );

    expect(stack).not.toMatch(/node_modules|adapter-thread|engine\.ts|node:/);
  });
});

describe('a result of an adapter', () => {
  test.each<[string, string, unknown]>([
    ['a getter', "return { get unfit() { return 'from ' + typeof process; } }", { unfit: 'from undefined' }],
    [
      'a proxy',
      "return new Proxy({}, { get: (_, name) => name === 'toJSON' ? undefined : 'x', ownKeys: () => ['unfit'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) })",
      { unfit: 'x' },
    ],
    ['a thenable', "return { unfit: 'plain', then(resolve) { resolve({ unfit: 'resolved' }); } }", { unfit: 'plain' }],
    ['toJSON', "return { toJSON: () => ({ unfit: 'from JSON' }) }", { unfit: 'from JSON' }],
    ['further members', "return { unfit: 'plain', constructor: { name: 'x' }, toString: 1 }", { unfit: 'plain' }],
    [
      'null for nothing',
      "return { method: 'GET', path: '/', host: null, json: { a: null } }",
      { method: 'GET', path: '/', json: { a: null } },
    ],
  ])('is copied as data: %s', async (_what, code, expected) => {
    const result = await run(await shared, code);

    expect(result).toEqual(expected);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(Object.values(Object.getOwnPropertyDescriptors(result)).every(({ get }) => get === undefined)).toBe(true);
  });

  test.each<[string, string, RegExp]>([
    [
      'a member that sets a prototype',
      `return JSON.parse('{"unfit":"x","__proto__":{"polluted":1}}')`,
      /a member __proto__/,
    ],
    [
      'such a member deep inside',
      `return { method: 'GET', path: '/', json: { a: [JSON.parse('{"__proto__":1}')] } }`,
      /a member __proto__/,
    ],
    ['nothing', 'return undefined', /expected an object|buildSubmit/],
    ['a promise', 'return (async () => ({ unfit: "x" }))()', /method is nothing; expected one of: GET/],
    ['another method', "return { method: 'CONNECT', path: '/' }", /method is "CONNECT"; expected one of: GET/],
    ['an address for a path', "return { method: 'GET', path: 'http://127.0.0.1/' }", /path is .*; expected a path/],
    ['a path with a line break', "return { method: 'GET', path: '/\\r\\nhost: x' }", /path is .*; expected a path/],
    [
      'a header with a line break',
      "return { method: 'GET', path: '/', headers: { a: 'b\\r\\nc: d' } }",
      /headers\.a is .*; expected printable/,
    ],
    [
      'a header without a name',
      "return { method: 'GET', path: '/', headers: { 'a b': 'c' } }",
      /expected the name of a header/,
    ],
    ['a number for a text', 'return { unfit: 7 }', /unfit is 7; expected a text/],
    ['a long text', "return { unfit: 'x'.repeat(100000) }", /unfit has more than 65536 characters/],
    ['50 MB', "return { method: 'GET', path: '/', json: { a: 'x'.repeat(5e7) } }", /out of memory/],
    [
      '5 MB',
      "return { method: 'GET', path: '/', json: { a: 'x'.repeat(5e6) } }",
      /an answer of more than \d+ characters/,
    ],
    ['500,000 values', "return { method: 'GET', path: '/', json: new Array(5e5).fill(1) }", /values/],
    [
      '50,000 members in one object',
      "const json = {}; for (let i = 0; i < 5e4; i += 1) json['n' + i] = i; return { method: 'GET', path: '/', json }",
      /at most 5000 members in one object|100 ms/,
    ],
    [
      '100 levels',
      "let a = 1; for (let i = 0; i < 100; i += 1) a = [a]; return { method: 'GET', path: '/', json: a }",
      /deeper than 64 levels/,
    ],
    [
      'a million levels',
      'let a = 1; for (let i = 0; i < 1e5; i += 1) a = [a]; return { json: a }',
      /stack overflow|levels|in time/,
    ],
    ['a circle', 'const a = {}; a.a = a; return a', /circular/],
    ['a BigInt', 'return { unfit: 1n }', /BigInt|bigint/],
  ])('is refused if it is or has %s', async (_what, code, reason) => {
    const calls = await shared;

    await expect(run(calls, code)).rejects.toThrow(reason);
    await assertWell(calls);
  });
});

describe('what an adapter throws is described inside', () => {
  test.each<[string, RegExp]>([
    ['throw null', /^null$/],
    ['throw undefined', /^undefined$/],
    ["throw Symbol('s')", /Symbol\(s\)/],
    ["throw { get message() { return 'm'; }, toString() { return 'mine'; } }", /^mine$/],
    ['throw { [Symbol.toPrimitive]() { throw 1; } }', /throws/],
    ['throw { toString() { throw { toString() { throw 1; } }; } }', /throws/],
    ['throw { toString() { for (;;); } }', /more than 100 ms of processor time/],
    ['throw new Proxy({}, { get() { for (;;); } })', /more than 100 ms of processor time/],
    ['throw Object.create(null)', /throws/],
    [
      "const error = new Error('x'); Object.defineProperty(error, 'message', { get() { for (;;); } }); throw error",
      /more than 100 ms/,
    ],
    [
      "const error = new Error('x'); Object.defineProperty(error, 'stack', { get() { for (;;); } }); throw error",
      /^Error: x$/,
    ],
    ["throw 'x'.repeat(100000)", /^x{4096}$/],
  ])('%s', async (code, message) => {
    const calls = await shared;

    await expect(run(calls, code)).rejects.toThrow(message);
    await assertWell(calls);
  });
});

describe('an adapter that takes without end is stopped', () => {
  test.each<[string, RegExp]>([
    ['for (;;);', /more than 100 ms of processor time/],
    [
      'try { for (;;); } catch { return { unfit: "caught" }; } finally { for (;;); }',
      /more than 100 ms of processor time/,
    ],
    ['return { get unfit() { for (;;); } }', /more than 100 ms of processor time/],
    ['return { toJSON() { for (;;); } }', /more than 100 ms of processor time/],
    ['return new Proxy({}, { ownKeys() { for (;;); } })', /more than 100 ms of processor time/],
    ['return { unfit: /^(a+)+$/.test("a".repeat(40) + "b") }', /more than 100 ms of processor time/],
    ['return (function again() { return again(); })()', /stack overflow|more than 100 ms/],
    ['const again = { get a() { return this.a; } }; return again.a', /stack overflow|more than 100 ms/],
    ['return JSON.parse("[".repeat(1e6))', /stack overflow|SyntaxError|out of memory/],
    ['return new RegExp("(".repeat(1e5))', /SyntaxError|stack overflow/],
    ['return "x".repeat(2 ** 30)', /out of memory|invalid string length/i],
    ['return new Uint8Array(1e9)', /out of memory|Array buffer/i],
    ['const all = []; for (;;) all.push(new Uint8Array(1e5))', /out of memory|more than 100 ms|in time/],
    ['let all = "x"; for (;;) all += all', /out of memory|more than 100 ms|string too long|invalid string/i],
    ['const all = new Map(); for (let i = 0; ; i += 1) all.set(i, i)', /out of memory|more than 100 ms/],
    ['return new Array(2 ** 32 - 1).fill(0)', /out of memory|in time|more than 100 ms/],
    ['return (2n ** 1000000n) ** 1000n', /in time|out of memory|maximum|too large|more than 100 ms/i],
  ])('%s', async (code, reason) => {
    const calls = await shared;

    await expect(run(calls, code)).rejects.toThrow(reason);
    await assertWell(calls);
  });

  test('and so is one that leaves its engine no moment to count', async () => {
    const calls = await openCalls(systemClock);

    await expect(run(calls, SILENT)).rejects.toThrow('does not answer in time, and was stopped');
    await assertWell(calls);
  });

  test('and jobs of promises that it leaves behind never run', async () => {
    const calls = await shared;
    await evaluate(calls, '(async () => { await 1; globalThis.ran = true; for (;;); })()');

    expect(await evaluate(calls, 'globalThis.ran')).toBe('undefined');
  });

  test('and what it keeps between calls ends with its thread', async () => {
    const calls = await openCalls();
    const keep = () => run(calls, '(globalThis.kept ??= []).push(new Uint8Array(4e6)); return { unfit: "kept" }');

    for (let times = 0; times < 20; times += 1) await keep().catch(() => undefined);

    await assertWell(calls);
  });
});

test('while one adapter never ends, the service and another adapter go on, and its other questions are answered', async () => {
  const [stuck, other] = [await openCalls(systemClock), await openCalls()];
  let isEnded = false;
  const ended = run(stuck, SILENT).catch((error: unknown) => {
    isEnded = true;
    return String(error);
  });
  const behind = evaluate(stuck, '2 + 2');

  for (let asked = 0; asked < 50; asked += 1) await assertWell(other);

  expect(isEnded).toBe(false);
  expect(await ended).toMatch(/does not answer in time, and was stopped/);
  expect(await behind).toBe('4');
});

(process.platform === 'linux' ? test : test.skip)('the service goes before its adapters', async () => {
  await assertWell(await shared);

  expect(readPriorities()).toEqual(expect.arrayContaining([0, 10]));
});

test('what an adapter changes about the language stays in its own sandbox', async () => {
  const [changed, other] = [await openCalls(), await openCalls()];
  await run(
    changed,
    `Object.prototype.polluted = 1; Array.prototype.map = () => 1; String.prototype.slice = () => 1;
     JSON.stringify = JSON.parse = () => '"forged"'; Map.prototype.has = () => { for (;;); };
     Object.defineProperty(Object.prototype, 'then', { value: (resolve) => resolve(7) }); return { unfit: 'done' };`,
  ).catch(() => undefined);

  expect([({} as { polluted?: unknown }).polluted, typeof [].map, typeof ({} as { then?: unknown }).then]).toEqual([
    undefined,
    'function',
    'undefined',
  ]);
  await assertWell(other);
});

test('a step of an operation that was under way when its thread was stopped is lost, and is no other operation', async () => {
  const calls = await openCalls(systemClock);
  const steps = calls.test();
  await steps.next();
  await run(calls, SILENT).catch(() => undefined);
  await calls.test().next();

  await expect(
    Promise.resolve(steps.next({ status: 200, body: {}, headers: {}, retryAfterMs: undefined })),
  ).rejects.toThrow('the operation was given up');
});

describe('the file of an adapter is refused if its body', () => {
  test.each<[string, RegExp]>([
    ["import fs from 'node:fs'; export default () => fs", /node:fs: an adapter imports types only/],
    ["export { default } from 'node:fs'", /node:fs: an adapter imports types only/],
    ['for (;;); export default 1', /more than 1000 ms of processor time/],
    ['await import("node:fs"); export default () => 1', /an adapter waits for nothing/],
    ['throw { get stack() { for (;;); } }; export default 1', /more than 1000 ms of processor time/],
    ['export default () => { throw { toString() { for (;;); } }; }', /throws|more than 1000 ms/],
    ['export default () => new Proxy({}, { ownKeys() { for (;;); } })', /more than 100 ms of processor time/],
    ['export default new Proxy(() => 1, { apply() { for (;;); } })', /more than 1000 ms of processor time/],
    [
      'export default () => ({ kit: 1, get endpoints() { return Array.from({ length: 1e6 }, () => "x"); } })',
      /values|characters|100 ms/,
    ],
    [
      'export const then = (resolve) => resolve({ default: 1 }); export default 2',
      /`export default \(kit\) => adapter` is missing/,
    ],
    ['const all = []; for (;;) all.push([]); export default 1', /out of memory|more than 1000 ms/],
    [
      `export default () => ({ kit: 1, endpoints: ['video.generation'], credential: { header: 'a' }, '(a+)+$': 1 })`,
      /expected/,
    ],
  ])('is %s', async (text, reason) => {
    const file = path.join(folder, 'refused.ts');
    writeFileSync(file, text);

    await expect(loadOwnAdapter(file, patientClock)).rejects.toThrow(reason);
  });
});
