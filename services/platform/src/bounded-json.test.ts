import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  LARGE_JSON,
  SMALL_JSON,
  assertBounds,
  parseAnsweredJson,
  parseBoundedJson,
  parseBoundedText,
  parseJsonInTurns,
} from './bounded-json.ts';
import type { JsonBounds } from './bounded-json.ts';
import { Problem } from './problem.ts';

const MIB = 1024 * 1024;
/** Bounds that a short text meets. */
const TINY: JsonBounds = { depth: 3, membersOfObject: 3, values: 80, nameBytes: 30, escapes: 5, plainBytes: 200 };

const repeat = (count: number, one: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => one(index)).join(',');
const object = (count: number): string => `{${repeat(count, (index) => `"k${index}":1`)}}`;
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

/** The message of the refusal; undefined if the text is within the bounds. */
function refusal(text: string, bounds: JsonBounds): string | undefined {
  try {
    assertBounds(Buffer.from(text), bounds);
    return undefined;
  } catch (error) {
    if (error instanceof Problem && error.reason === 'invalid_json') return error.message;
    throw error;
  }
}

describe('the largest text within a bound passes, and one more of its kind is refused by name', () => {
  test.each([
    ['levels', nested(3), nested(4), 'must not nest deeper than 3 levels'],
    ['levels of objects', '{"a":{"a":{}}}', '{"a":{"a":{"a":{}}}}', 'must not nest deeper than 3 levels'],
    ['members of one object', object(3), object(4), 'must have at most 3 members in one object'],
    ['repeated names', '{"a":1,"a":1,"a":1}', '{"a":1,"a":1,"a":1,"a":1}', 'must have at most 3 members in one object'],
    ['an inner object', `[${object(3)}]`, `[1,${object(4)}]`, 'must have at most 3 members in one object'],
    ['members after an inner object', '{"a":{"b":1},"c":1}', `{"a":${object(3)},"c":1,"d":1,"e":1}`, 'in one object'],
    ['numbers', `[${repeat(80, () => '1')}]`, `[${repeat(81, () => '1')}]`, 'they must count at most 80 together'],
    ['strings', `[${repeat(16, () => '""')}]`, `[${repeat(17, () => '""')}]`, 'they must count at most 80 together'],
    ['lists', `[${repeat(40, () => '[]')}]`, `[${repeat(41, () => '[]')}]`, 'they must count at most 80 together'],
    [
      'members of all objects',
      `[${repeat(4, () => object(2))}]`,
      `[${repeat(5, () => object(2))}]`,
      'they must count at most 80 together',
    ],
    ['bytes of names', `{"${'n'.repeat(29)}":1}`, `{"${'n'.repeat(30)}":1}`, 'at most 30 bytes in the names'],
    ['escapes', '["\\n\\n\\n\\n\\n"]', '["\\n\\n\\n","\\n\\u00e9\\""]', 'at most 5 escapes'],
    ['spaces', `[${' '.repeat(198)}]`, `[${' '.repeat(199)}]`, 'at most 200 bytes outside of its strings'],
    ['digits', '1'.repeat(200), '1'.repeat(201), 'at most 200 bytes outside of its strings'],
  ])('%s', (_, within, beyond, expected) => {
    expect(refusal(within, TINY)).toBeUndefined();
    expect(refusal(beyond, TINY)).toMatch(new RegExp(`^the body .*${expected}`));
  });
});

test('what stands in a string is not counted', () => {
  const said = '[{"a":1,,,:::]]]]\\"[[[[[[[['.repeat(500);

  expect(refusal(JSON.stringify([said]), { ...TINY, escapes: 5000 })).toBeUndefined();
});

test('a text that is cut anywhere is counted as the whole', () => {
  const long = 'x'.repeat(MIB - 20);
  const ends = fc.array(fc.constantFrom('\\\\', '\\"', '\\u00e9', '"', ',"', '":', 'x', '{', '}', '[', ']'), {
    minLength: 20,
    maxLength: 60,
  });
  fc.assert(
    fc.property(ends, (parts) => {
      const text = `["${long}${parts.join('')}`;
      const bounds = { ...TINY, values: 60, nameBytes: 2 * MIB };
      const short = text.replace(long, '');
      // the names are as long as what is cut out, so their bound is the only one that differs
      expect(refusal(text, bounds)).toBe(refusal(short, { ...bounds, nameBytes: 2 * MIB - long.length }));
    }),
    { numRuns: 300, seed: 20_261_128 },
  );
});

describe('what clients really send is within the bounds', () => {
  test.each([
    ['300,000 tokens for embeddings', { input: Array.from({ length: 300_000 }, (_, index) => index) }],
    ['2,048 texts for embeddings', { input: Array.from({ length: 2048 }, (_, index) => `text ${index}`) }],
    [
      'a conversation of 2,500 messages',
      {
        messages: Array.from({ length: 2500 }, (_, index) => ({
          role: 'assistant',
          content: [{ type: 'text', text: `${index}\n` }],
          tool_calls: [
            { id: `call_${index}`, type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } },
          ],
        })),
      },
    ],
    [
      '300 tools of 15 parameters',
      {
        tools: Array.from({ length: 300 }, (_, index) => ({
          type: 'function',
          function: {
            name: `tool_${index}`,
            parameters: {
              type: 'object',
              properties: Object.fromEntries(
                Array.from({ length: 15 }, (_, at) => [`parameter_${at}`, { type: 'string', description: 'It says' }]),
              ),
            },
          },
        })),
      },
    ],
    ['5,000 properties of a schema', Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`p${at}`, {}]))],
    ['a list of 400 models', { data: Array.from({ length: 400 }, () => JSON.parse(object(60)) as unknown) }],
  ])('%s', (_, body) => {
    expect(refusal(JSON.stringify(body, undefined, 2), LARGE_JSON)).toBeUndefined();
  });

  test.each([
    ['a picture of 40 MiB', `{"image":"data:image/png;base64,${'QUJD'.repeat(10 * MIB)}"}`],
    ['the same with escaped slashes', `{"image":"${`${'Q'.repeat(62)}\\/`.repeat(MIB)}"}`],
    ['a list of 10,000 numbers', `{"path":[${repeat(10_000, (index) => String(index))}]}`],
  ])('%s in a create', (_, text) => {
    expect(refusal(text, SMALL_JSON)).toBeUndefined();
  });
});

describe('every reader parses as JSON.parse does, and refuses what is too much', () => {
  const readers: readonly (readonly [string, (text: string) => unknown])[] = [
    ['bytes', (text) => parseBoundedJson(Buffer.from(text), SMALL_JSON)],
    ['bytes in turns', (text) => parseJsonInTurns(Buffer.from(text), SMALL_JSON)],
    ['a text', (text) => parseBoundedText(text, SMALL_JSON)],
    ['an answer', (text) => parseAnsweredJson(Buffer.from(text))],
  ];
  test.each(readers)('%s', async (_, read) => {
    const attempt = async (text: string): Promise<unknown> => read(text);
    const long = JSON.stringify({ text: 'é"\\'.repeat(MIB / 2) });

    expect(await attempt('{"a":[1,"é\\n"]}')).toEqual({ a: [1, 'é\n'] });
    expect(await attempt(long)).toEqual(JSON.parse(long));
    await expect(attempt('{"a":')).rejects.toThrow(SyntaxError);
    await expect(attempt(object(5001))).rejects.toThrow(/members in one object; send a list where there are more/);
    await expect(attempt(`${long},${nested(65)}`)).rejects.toThrow('the body must not nest deeper than 64 levels');
  });

  test('a refused field is named', () => {
    expect(() => parseBoundedText(nested(65), SMALL_JSON, 'content')).toThrow(
      expect.objectContaining({ field: 'content', message: 'must not nest deeper than 64 levels' }),
    );
  });
});

test('other work goes on while a large text is read', async () => {
  const text = Buffer.from(JSON.stringify(['x'.repeat(8 * MIB)]));
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);

  await parseJsonInTurns(text, SMALL_JSON);
  isOver = true;

  expect(turns).toBeGreaterThanOrEqual(9);
});
