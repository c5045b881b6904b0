import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { silentLog } from './log.ts';

const LOG = new URL('./log.ts', import.meta.url).href;
const SECRET = new URL('./secret.ts', import.meta.url).href;

/** The lines that a separate program writes. */
async function linesOf(level: string, code: string): Promise<Record<string, unknown>[]> {
  const program = [
    `import { newLog } from '${LOG}';`,
    `import { Secret } from '${SECRET}';`,
    `const log = newLog('media', '${level}');`,
    code,
  ].join('\n');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--disable-warning=ExperimentalWarning', '--eval', program],
    { timeout: 60_000 },
  );
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a line has a time, a service, a message and fields', async () => {
  const [line] = await linesOf('info', "log.child({ requestId: 'req-1' }).info({ took: 3 }, 'done')");

  expect(line).toMatchObject({ service: 'media', requestId: 'req-1', took: 3, msg: 'done', level: 30 });
  expect(line?.['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test.each([
  ['debug', 4],
  ['info', 3],
  ['warn', 2],
  ['error', 1],
  ['silent', 0],
])('at level %s writes %i of four lines', async (level, count) => {
  expect(await linesOf(level, "for (const say of ['debug', 'info', 'warn', 'error']) log[say]({}, say)")).toHaveLength(
    count,
  );
});

test('a level that is changed holds at once, also for children that were made before', async () => {
  const lines = await linesOf(
    'error',
    "const child = log.child({ part: 1 }); child.info({}, 'no'); log.setLevel('debug'); child.debug({}, 'yes'); " +
      "log.setLevel('silent'); child.error({}, 'no')",
  );

  expect(lines.map(({ msg, part }) => [msg, part])).toEqual([['yes', 1]]);
});

test.each([
  ['all', ['ok', 'refused']],
  ['errors', ['refused']],
  ['off', []],
])('with the access log at %s the lines of requests are %j, and other lines stay', async (mode, expected) => {
  const lines = await linesOf(
    'info',
    `log.setAccess('${mode}'); const child = log.child({}); ` +
      "child.access({ level: 'info', failed: false }, { what: 'ok' }, 'request'); " +
      "child.access({ level: 'info', failed: true }, { what: 'refused' }, 'request'); " +
      "child.access({ level: 'debug', failed: true }, { what: 'below the level' }, 'request'); log.info({}, 'other')",
  );

  expect(lines.filter(({ msg }) => msg === 'request').map(({ what }) => what)).toEqual(expected);
  expect(lines.filter(({ msg }) => msg === 'other')).toHaveLength(1);
});

test('a line that is written for a request has its id, also after a wait, and no other line has it', async () => {
  const CONTEXT = new URL('./request-context.ts', import.meta.url).href;
  const lines = await linesOf(
    'info',
    `const { inRequest } = await import('${CONTEXT}'); const child = log.child({}); ` +
      "const work = async (n) => { await null; child.info({ n }, 'work') }; " +
      "await Promise.all([inRequest('req-1', () => work(1)), inRequest('req-2', () => work(2)), work(3)]); " +
      "inRequest('req-1', () => inRequest('', () => log.info({ requestId: 'own' }, 'own')))",
  );

  expect(lines.map(({ n, requestId }) => [n, requestId])).toEqual([
    [1, 'req-1'],
    [2, 'req-2'],
    [3, undefined],
    [undefined, 'own'],
  ]);
});

test('a line of a part that works for all requests has no id, whichever request runs', async () => {
  const CONTEXT = new URL('./request-context.ts', import.meta.url).href;
  const LOG = new URL('./log.ts', import.meta.url).href;
  const lines = await linesOf(
    'info',
    `const { inRequest, inTrace } = await import('${CONTEXT}'); const { backgroundLog } = await import('${LOG}'); ` +
      'const shared = backgroundLog(log).child({ part: 1 }); ' +
      "inRequest('req-1', () => inTrace('4bf9', () => { shared.warn({}, 'shared'); log.warn({}, 'own') }))",
  );

  expect(lines.map(({ msg, part, requestId, trace_id }) => [msg, part, requestId, trace_id])).toEqual([
    ['shared', 1, undefined, undefined],
    ['own', undefined, 'req-1', '4bf9'],
  ]);
});

test('a line of a recorded trace has its id under the name that tools look for, and no other line has it', async () => {
  const CONTEXT = new URL('./request-context.ts', import.meta.url).href;
  const lines = await linesOf(
    'info',
    `const { inTrace } = await import('${CONTEXT}'); ` +
      "await inTrace('4bf9', async () => { await null; log.info({}, 'work') }); " +
      "inTrace(undefined, () => log.info({}, 'other'))",
  );

  expect(lines.map(({ msg, trace_id }) => [msg, trace_id])).toEqual([
    ['work', '4bf9'],
    ['other', undefined],
  ]);
});

test('the log hides a key in every field that may hold one', async () => {
  const written = JSON.stringify(
    await linesOf(
      'info',
      "log.info({ key: 'hunter2', apiKey: 'hunter2', authorization: 'hunter2', " +
        "headers: { authorization: 'hunter2' }, other: new Secret('hunter2') }, 'a call')",
    ),
  );

  expect(written).not.toContain('hunter2');
  expect(written).toContain('a call');
});

test('a line of single values has what a line with other values has, and hides keys as that does', async () => {
  const CONTEXT = new URL('./request-context.ts', import.meta.url).href;
  const lines = await linesOf(
    'info',
    `const { inRequest, inTrace } = await import('${CONTEXT}'); ` +
      "const child = log.child({ part: 1, key: 'hunter2' }); " +
      "const fields = { text: 'a\"b', ms: 3, never: NaN, none: null, left: undefined, is: true }; " +
      "const write = (some) => { for (const own of [{}, { requestId: 'own' }, { apiKey: 'hunter2' }]) " +
      "for (const say of ['info', 'error']) child[say]({ ...fields, ...own, ...some }, 'same') }; " +
      "inRequest('req-1', () => inTrace('4bf9', () => { write({}); write({ other: {} }) }))",
  );
  const compared = lines.map((line) => ({ ...line, time: typeof line['time'], other: undefined }));

  expect(lines).toHaveLength(12);
  expect(compared.slice(0, 6)).toEqual(compared.slice(6));
  expect(JSON.stringify(lines)).not.toContain('hunter2');
});

test('the line of a request has what other lines have, and hides a key that its log holds', async () => {
  const CONTEXT = new URL('./request-context.ts', import.meta.url).href;
  const lines = await linesOf(
    'info',
    `const { inRequest, inTrace } = await import('${CONTEXT}'); ` +
      "const child = log.child({ part: 1, key: 'hunter2', headers: { authorization: 'hunter2' } }); " +
      "const fields = { route: '/a\"b', ms: 3, model: undefined }; " +
      "const access = () => child.access({ level: 'info', failed: false }, fields, 'same'); " +
      "inRequest('req-1', () => inTrace('4bf9', () => { child.info(fields, 'same'); access() })); access(); " +
      "inRequest('req-1', () => child.access({ level: 'info', failed: false }, { requestId: 'own' }, 'own'))",
  );
  const withoutTime = lines.map((line) => ({ ...line, time: typeof line['time'] }));

  expect(withoutTime[1]).toEqual(withoutTime[0]);
  expect(withoutTime[1]).toMatchObject({ level: 30, service: 'media', requestId: 'req-1', trace_id: '4bf9' });
  expect(lines.slice(2).map(({ requestId, route }) => [requestId, route])).toEqual([
    [undefined, '/a"b'],
    ['own', undefined],
  ]);
  expect(JSON.stringify(lines)).not.toContain('hunter2');
});

test('the log writes an error with its code, message, places and cause', async () => {
  const [line] = await linesOf(
    'info',
    "log.error({ err: Object.assign(new Error('outer', { cause: new Error('inner') }), { code: 'E_OUTER' }) }, 'failed')",
  );

  expect(line?.['err']).toEqual({
    type: 'Error',
    code: 'E_OUTER',
    message: 'outer',
    stack: expect.stringMatching(/^at /),
    cause: { type: 'Error', message: 'inner', stack: expect.stringMatching(/^at /) },
  });
});

test.each([
  ['of the parser of HTTP', "Object.assign(new Error('m'), { rawPacket: Buffer.from(SECRET), bytesParsed: 3 })"],
  [
    'of a client of HTTP',
    "Object.assign(new Error('m'), { config: { headers: { a: SECRET } }, response: { data: SECRET } })",
  ],
  [
    'of a database',
    "Object.assign(new Error('m'), { code: '23505', detail: SECRET, parameters: [SECRET], where: SECRET })",
  ],
  ['of an address', "(() => { try { return new URL('http://[' + SECRET) } catch (error) { return error } })()"],
  ['of JSON', 'pick(() => JSON.parse(SECRET))'],
  ['of JSON in the middle', "pick(() => JSON.parse('[\"' + 'a'.repeat(40) + SECRET + '\" x' + SECRET + '\"]'))"],
  ['behind a cause', "new Error('m', { cause: Object.assign(new Error('m'), { rawPacket: Buffer.from(SECRET) }) })"],
  ['that is a cause and no error', "new Error('m', { cause: { body: SECRET } })"],
  ['among several', "new AggregateError([Object.assign(new Error('m'), { body: SECRET })], 'm')"],
  ['whose code is a text', "Object.assign(new Error('m'), { code: SECRET + ' ' })"],
  ['that is an object', '({ body: SECRET })'],
  [
    'with a member that throws',
    "Object.defineProperty(new Error('m'), 'code', { get: () => { throw new Error(SECRET) } })",
  ],
])('a line of an error %s has none of its other members, at every place of the line', async (_what, error) => {
  const SECRET = 'hunter2-hunter2-hunter2';
  const lines = await linesOf(
    'debug',
    `const SECRET = '${SECRET}'; const pick = (run) => { try { run() } catch (error) { return error } }; ` +
      `const fault = () => ${error}; ` +
      "for (const say of ['debug', 'info', 'warn', 'error']) log[say]({ err: fault() }, 'line'); " +
      "log.child({ err: fault() }).warn({ a: 1 }, 'line'); " +
      "if (fault() instanceof Error) { log.warn(fault(), 'line'); log.warn({ other: fault() }, 'line'); " +
      "log.warn({ list: [{ deep: fault() }] }, 'line') }",
  );
  const written = JSON.stringify(lines);

  expect(lines.length).toBeGreaterThanOrEqual(5);
  expect(written).not.toContain('hunter2');
  expect(written).not.toContain([...Buffer.from('hunter2')].join(','));
});

test('the line of an error has a bound, however long its message, its stack and its causes are', async () => {
  const lines = await linesOf(
    'info',
    "const nested = (depth) => new Error('x'.repeat(1e6), depth === 0 ? {} : { cause: nested(depth - 1) }); " +
      "const deep = (left) => left === 0 ? nested(100) : deep(left - 1); log.error({ err: deep(50) }, 'a'); " +
      "log.error({ err: new AggregateError(Array.from({ length: 1000 }, () => nested(1)), 'many') }, 'b'); " +
      "const ring = new Error('ring'); ring.cause = ring; log.error({ err: ring }, 'c')",
  );

  expect(lines).toHaveLength(3);
  for (const line of lines) expect(JSON.stringify(line).length).toBeLessThan(24_000);
});

test('the silent log takes every line, and its children are silent too', () => {
  expect(silentLog.child({ a: 1 })).toBe(silentLog);
  for (const level of ['debug', 'info', 'warn', 'error'] as const) silentLog[level]({}, 'a line');
});

test('a process that exits has written every line', async () => {
  const lines = await linesOf('info', "log.info({}, 'first'); log.info({}, 'last'); process.exit()");

  expect(lines.map(({ msg }) => msg)).toEqual(['first', 'last']);
});
