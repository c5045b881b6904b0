import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { dialects } from '../dialects/index.ts';
import { chooseDefaults } from '../domain/model-defaults.ts';
import type { Model } from '../domain/model-defaults.ts';
import { listBatchEndpoints, newFault } from './batch-endpoints.ts';
import { LINE_BYTES_MAX, lineChecker, splitLines } from './check-line.ts';
import type { LineChecker } from './check-line.ts';

const ranges = { duration: { min: 4, max: 15 }, resolutions: ['768P'], ratios: ['adaptive', '16:9'] };
const alpha: Model = { ...ranges, defaults: chooseDefaults(ranges) };
const endpoint = listBatchEndpoints(dialects).get('/v1/videos')!;
const newChecker = (): LineChecker => lineChecker(endpoint, new Map([['Alpha-H3', alpha]]));

const BODY = { model: 'Alpha-H3', prompt: 'a boat', seconds: '5' };
const VALID = { custom_id: 'one', method: 'POST', url: '/v1/videos', body: BODY };
const manyMembers = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
const check = (checker: LineChecker, line: unknown, number = 1) =>
  checker.check({ number, bytes: Buffer.from(typeof line === 'string' ? line : JSON.stringify(line)) });

test('a valid line is an order with its number and its name', () => {
  const checker = newChecker();
  expect(check(checker, VALID, 7)).toMatchObject({
    number: 7,
    customId: 'one',
    body: { case: 'order', value: { model: 'Alpha-H3', duration: 5 } },
  });
  expect([checker.faults, checker.model()]).toEqual([[], 'Alpha-H3']);
});

test('an order keeps the names of its client, so that a later refusal has them', () => {
  const content = [{ type: 'image_url', role: 'first_frame', image_url: { url: 'https://a.example/1.png' } }];
  const namesOf = (body: object): unknown => {
    const line = check(newChecker(), { ...VALID, body: { ...BODY, ...body } });
    return line?.body.case === 'order' ? line.fieldNames : line?.body;
  };

  expect(namesOf({})).toMatchObject({ duration: 'seconds' });
  expect(namesOf({ seconds: undefined, duration: '5' })).not.toHaveProperty('duration');
  expect(namesOf({ content })).toMatchObject({
    'content[1]': 'content[0]',
    'content[1].media.url': 'content[0].image_url',
  });
});

test('an empty line is none', () => {
  const checker = newChecker();
  expect([check(checker, ''), check(checker, ' \t'), checker.faults]).toEqual([undefined, undefined, []]);
});

describe('a line that no file may have', () => {
  test.each<[string, unknown, string, string]>([
    ['no JSON', '{"custom_id":', 'invalid_json_line', ''],
    ['a list', '[]', 'invalid_json_line', ''],
    ['a text', '"a"', 'invalid_json_line', ''],
    ['too many members', { ...VALID, ...manyMembers(1000) }, 'invalid_json_line', ''],
    ['too many members within', { ...VALID, body: { ...BODY, ...manyMembers(1000) } }, 'invalid_json_line', ''],
    ['no custom_id', { ...VALID, custom_id: undefined }, 'missing_required_parameter', 'custom_id'],
    ['an empty custom_id', { ...VALID, custom_id: '' }, 'missing_required_parameter', 'custom_id'],
    ['a custom_id that is a number', { ...VALID, custom_id: 1 }, 'missing_required_parameter', 'custom_id'],
    ['a long custom_id', { ...VALID, custom_id: 'a'.repeat(513) }, 'invalid_custom_id', 'custom_id'],
    ['half a character', { ...VALID, custom_id: '\ud800' }, 'invalid_custom_id', 'custom_id'],
    ['another method', { ...VALID, method: 'post' }, 'invalid_method', 'method'],
    ['another url', { ...VALID, url: '/v1/videos/' }, 'invalid_url', 'url'],
    ['a whole url', { ...VALID, url: 'https://gateway.example/v1/videos' }, 'invalid_url', 'url'],
    ['no body', { ...VALID, body: null }, 'missing_required_parameter', 'body'],
    ['a list as its body', { ...VALID, body: [] }, 'missing_required_parameter', 'body'],
    ['a misspelt member', { ...VALID, custom_Id: 'one' }, 'unknown_field', 'custom_Id'],
    ['a field of the order beside its body', { ...VALID, seconds: '10' }, 'unknown_field', 'seconds'],
    ['another spelling of its body', { ...VALID, Body: {} }, 'unknown_field', 'Body'],
    ['a name that every object has', { ...VALID, constructor: {} }, 'unknown_field', 'constructor'],
    ['the name of a prototype', JSON.stringify(VALID).replace('{', '{"__proto__":{},'), 'unknown_field', '__proto__'],
    ['a long model', { ...VALID, body: { ...BODY, model: 'a'.repeat(257) } }, 'invalid_request', 'body.model'],
    ['no model', { ...VALID, body: { prompt: 'a boat' } }, 'missing_required_parameter', 'body.model'],
  ])('%s', (_what, line, code, param) => {
    const checker = newChecker();
    expect(check(checker, line)).toBeUndefined();
    expect(checker.faults).toMatchObject([{ code, line: 1, param }]);
  });

  test('one that is too long, or is beyond the last that a file may have', () => {
    const checker = newChecker();
    checker.check({ number: 1, bytes: undefined });
    check(checker, VALID, 50_001);
    expect(checker.faults.map(({ code }) => code)).toEqual(['line_too_long', 'too_many_lines']);
  });

  test('a second custom_id or a second model', () => {
    const checker = newChecker();
    check(checker, VALID, 1);
    check(checker, VALID, 2);
    check(checker, { ...VALID, custom_id: 'two', body: { ...BODY, model: 'Beta' } }, 3);
    expect(checker.faults).toMatchObject([
      { code: 'duplicate_custom_id', line: 2, param: 'custom_id' },
      { code: 'mismatched_model', line: 3, param: 'body.model' },
    ]);
  });
});

describe('a body that is no order ends its line alone', () => {
  test.each<[string, object, string, string]>([
    ['a wrong length', { seconds: 'five' }, 'invalid_duration', 'seconds'],
    ['no text', { prompt: '' }, 'invalid_content', 'prompt'],
    ['bytes', { input_reference: 'data:image/png;base64,AAAA' }, 'invalid_media', 'input_reference'],
    ['a bound of its own', { max_amount: '1' }, 'invalid_request', 'max_amount'],
    ['a receiver of its own', { webhook_url: 'https://hooks.example/1' }, 'invalid_request', 'webhook_url'],
  ])('%s', (_what, body, code, param) => {
    const checker = newChecker();
    expect(check(checker, { ...VALID, body: { ...BODY, ...body } })?.body.value).toMatchObject({ code, param });
    expect(checker.faults).toEqual([]);
  });
});

describe('the refusal of a line names the right field, as that of a single create does', () => {
  const refused = (param: string) => {
    const what = 'is an unknown field, which no generator of Alpha-H3 takes';
    return endpoint.explain?.(newFault('unknown_field', param, what));
  };
  test.each([
    ['negative_promt', 'write into prompt what the video must not show'],
    ['promt', 'did you mean prompt'],
    ['max_ammount', 'did you mean max_amount'],
    ['image_url', 'send input_reference'],
  ])('%s', (param, right) => {
    expect(refused(param)?.message).toContain(`Alpha-H3 takes; ${right}`);
  });
  test('once, if it was refused when its file was read', () => {
    const body = check(newChecker(), { ...VALID, body: { ...BODY, image_url: 'https://a.example/1.png' } })?.body;
    if (body?.case !== 'fault') throw new Error('the line was not refused');

    expect(body.value).toMatchObject({ code: 'unknown_field', param: 'image_url' });
    expect(endpoint.explain?.(body.value)).toEqual(body.value);
  });
  test('and any other refusal stays as it is', () => {
    const fault = newFault('invalid_request', 'duration', 'must be 5');
    expect(endpoint.explain?.(fault)).toBe(fault);
  });
});

test('lines are the same however their file is cut into chunks, and one that is too long has no bytes', async () => {
  const text = fc.array(fc.constantFrom('', 'a', 'b\r', 'ccccc', 'dddddd', 'é'), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 7 }), fc.boolean(), async (lines, size, isEnded) => {
      const whole = Buffer.from(lines.join('\n') + (isEnded ? '\n' : ''));
      const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_none, index) =>
        whole.subarray(index * size, (index + 1) * size),
      );
      const found = await Array.fromAsync(splitLines(chunks as never, 5));
      const expected = whole.length === 0 ? [] : whole.toString().split('\n');
      if (expected.at(-1) === '') expected.pop();
      expect(found.map(({ number }) => number)).toEqual(expected.map((_line, index) => index + 1));
      expect(found.map(({ bytes }) => bytes?.toString())).toEqual(
        expected.map((line) => (Buffer.byteLength(line) > 5 ? undefined : line.replace(/\r$/, ''))),
      );
    }),
  );
});

test('a line may have a quarter of a mebibyte', async () => {
  const longest = Buffer.alloc(LINE_BYTES_MAX, 'a');
  const [line, over] = await Array.fromAsync(
    splitLines([longest, Buffer.from('\nb'), longest] as never, LINE_BYTES_MAX),
  );
  expect([line?.bytes?.length, over?.bytes]).toEqual([LINE_BYTES_MAX, undefined]);
});
