import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FetchFault } from '../../domain/fetch-fault.ts';
import { JSON_AROUND_BYTES_MAX, newBase64JsonReader } from './read-base64-json.ts';

const SEED = 20_261_126;
const RUNS = 1500;
const CHUNK_BYTES = 64 * 1024;
/** 64 MiB. */
const CHUNKS = 1024;
/** A group of Base64 that is not whole yet. */
const HELD_CHARACTERS_MAX = 3;

type Outcome = { readonly bytes: Buffer } | { readonly code: string; readonly said: string };

function read(chunks: readonly Buffer[], pointer: readonly string[]): Outcome {
  const reader = newBase64JsonReader(pointer);
  try {
    const bytes = Buffer.concat(chunks.map((chunk) => reader.take(chunk)));
    reader.finish();
    return { bytes };
  } catch (error) {
    if (error instanceof FetchFault) return { code: error.code, said: error.said };
    throw error;
  }
}

/** Splits a text into chunks that end at these positions. */
function split(text: string, cuts: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((one, two) => one - two);
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
}

/** Reads a text as one chunk, and byte by byte: both must agree. */
function readBothWays(text: string, pointer: readonly string[]): Outcome {
  const whole = read([Buffer.from(text)], pointer);
  expect(read(split(text, [...Buffer.from(text).keys()]), pointer)).toEqual(whole);
  return whole;
}

const QUICK = Buffer.from('quick');
const CODE = QUICK.toString('base64');

describe('the Base64 string at the pointer is decoded', () => {
  test.each<[string, string, readonly string[]]>([
    ['in an object', `{"a":"${CODE}"}`, ['a']],
    ['in a list', `[1,"${CODE}",2]`, ['1']],
    ['behind other members', `{"b":{"a":"no"},"c":[{"a":1}],"a":"${CODE}"}`, ['a']],
    ['before other members', `{"a":"${CODE}","b":[{},[],"",-1.5e+3,true,false,null]}`, ['a']],
    ['deep inside', `{"response":{"videos":[{},{"data":"${CODE}"}]}}`, ['response', 'videos', '1', 'data']],
    ['under a name with escapes', `{"\\u0061\\/\\"":"${CODE}"}`, ['a/"']],
    ['under an empty name', `{"":"${CODE}"}`, ['']],
    ['beside a very long name', `{"${'n'.repeat(3000)}":1,"":"${CODE}"}`, ['']],
    ['under a name of an index', `{"0":"${CODE}"}`, ['0']],
    ['under a name of other characters', `{"ü🚤":"${CODE}"}`, ['ü🚤']],
    ['among spaces', ` \t\r\n{ "a" :\n[ "${CODE}" ] } \n`, ['a', '0']],
    ['with escapes', `{"a":"${CODE.replace('c', '\\u0063')}"}`, ['a']],
    ['whose name also stands elsewhere', `{"b":{"a":"x","a":"y"},"a":"${CODE}"}`, ['a']],
  ])('%s', (_where, text, pointer) => {
    expect(readBothWays(text, pointer)).toEqual({ bytes: QUICK });
  });

  test('with each slash written as an escape, as some encoders do', () => {
    const slashes = Buffer.alloc(3000, 0xff);

    const text = JSON.stringify([slashes.toString('base64')]).replaceAll('/', '\\/');

    expect(readBothWays(text, ['0'])).toEqual({ bytes: slashes });
  });

  test('with no bytes', () => {
    expect(readBothWays('{"a":""}', ['a'])).toEqual({ bytes: Buffer.alloc(0) });
  });
});

describe('a text is refused', () => {
  test.each<[string, string]>([
    ['that is empty', ''],
    ['that is a page', '<html>no</html>'],
    ['that is cut in the string', `{"a":"${CODE}`],
    ['that is cut behind the string', `{"a":"${CODE}"`],
    ['that is cut in a later member', `{"a":"${CODE}","b":tru`],
    ['with more behind its end', `{"a":"${CODE}"}{`],
    ['with a byte order mark', `\ufeff{"a":"${CODE}"}`],
    ['with a comma too many', `{"a":"${CODE}",}`],
    ['with a comma missing', `{"a":"${CODE}" "b":1}`],
    ['with a colon missing', `{"a" "${CODE}"}`],
    ['with a value missing', `{"b":,"a":"${CODE}"}`],
    ['with a name that is no string', `{1:2,"a":"${CODE}"}`],
    ['with the wrong bracket', `{"a":"${CODE}"]`],
    ['with a wrong number', `{"a":"${CODE}","b":01}`],
    ['with a wrong word', `{"a":"${CODE}","b":nul}`],
    ['with a wrong escape', `{"a":"${CODE}","b":"\\x"}`],
    ['with a wrong hexadecimal escape', `{"a":"${CODE}","b":"\\u00g0"}`],
    ['with a line break in a string', `{"a":"${CODE}","b":"\n"}`],
    ['with a number that is too long', `{"a":"${CODE}","b":${'1'.repeat(300)}}`],
    ['that is too deep', `{"a":"${CODE}","b":${'['.repeat(64)}${']'.repeat(64)}}`],
  ])('%s', (_what, text) => {
    expect(readBothWays(text, ['a'])).toMatchObject({ code: 'malformed', said: 'must come inside a whole JSON text' });
  });

  test.each<[string, string, readonly string[]]>([
    ['the name is missing', `{"b":"${CODE}"}`, ['a']],
    ['only the beginning of the name is there', `{"aa":"${CODE}"}`, ['a']],
    ['the name is elsewhere', `{"b":{"a":"${CODE}"}}`, ['a']],
    ['the list is too short', `["${CODE}"]`, ['1']],
    ['the index has a leading zero', `["","${CODE}"]`, ['01']],
    ['the way ends at a string', `{"a":"${CODE}"}`, ['a', '0']],
    ['it is a number', '{"a":12}', ['a']],
    ['it is null', '{"a":null}', ['a']],
    ['it is an object', `{"a":{"a":"${CODE}"}}`, ['a']],
    ['the text is a string', `"${CODE}"`, ['a']],
    ['the text is a number', '12', ['a']],
  ])('that has no string at the pointer: %s', (_why, text, pointer) => {
    expect(readBothWays(text, pointer)).toMatchObject({
      code: 'malformed',
      said: expect.stringContaining('there is none'),
    });
  });

  test.each<[string, string, readonly string[]]>([
    ['the string', `{"a":"${CODE}","a":"${CODE}"}`, ['a']],
    ['an object on the way', `{"a":{"b":"${CODE}"},"\\u0061":1}`, ['a', 'b']],
  ])('in which two readers could find another value: %s has its name twice', (_what, text, pointer) => {
    expect(readBothWays(text, pointer)).toMatchObject({
      code: 'malformed',
      said: expect.stringContaining('occurs twice'),
    });
  });

  test.each([
    'A',
    'AA',
    'AAA',
    'AA=',
    'A===',
    '====',
    'AB==',
    'AAB=',
    'AA==AAAA',
    'AA-_',
    'AA AA',
    'AA\\n==',
    'AAAü',
    'AA\\u00e9A',
  ])('whose string is not the Base64 of an encoder: %j', (text) => {
    expect(readBothWays(`{"a":"${text}"}`, ['a'])).toMatchObject({
      code: 'malformed',
      said: expect.stringContaining('Base64'),
    });
  });

  test.each<[string, (space: string) => string]>([
    ['before the string', (space) => `{${space}"a":"${CODE}"}`],
    ['behind the string', (space) => `{"a":"${CODE}"${space}}`],
    ['in another string', (space) => `{"b":"${space}","a":"${CODE}"}`],
    ['in a name', (space) => `{"${space}":1,"a":"${CODE}"}`],
  ])('with more than the limit of JSON %s', (_where, write) => {
    const text = Buffer.from(write(' '.repeat(JSON_AROUND_BYTES_MAX)));

    expect(read([text], ['a'])).toMatchObject({ code: 'too_large', said: expect.stringContaining('4 MiB of JSON') });
  });
});

describe('the reader agrees with JSON.parse', () => {
  /** Without a lone backslash: after such a name, JSON.parse of V8 13.6 can read the name `\\"` as a backslash too. */
  const NAMES = ['a', 'b', 'a/b', '', '0', 'ü', '"', '\t'];
  const base64 = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64'));
  const text = fc.oneof(base64, fc.constantFrom('AA', 'A===', '\n', '}', '"a":"', '\\'), fc.string({ maxLength: 8 }));
  const { value } = fc.letrec<{ value: unknown; leaf: unknown }>((tie) => ({
    leaf: fc.oneof(text, text, fc.constantFrom(0, -1.5e-7, 1e21, true, null)),
    value: fc.oneof(
      { maxDepth: 4 },
      tie('leaf'),
      fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 4 }),
      fc.array(tie('value'), { maxLength: 4 }),
    ),
  }));
  const written = fc
    .tuple(value, fc.constantFrom('', ' ', '\t'), fc.boolean())
    .map(([json, space, hasEscapes]) => {
      const plain = JSON.stringify(json, undefined, space);
      return hasEscapes ? plain.replaceAll('/', '\\/').replaceAll('Q', '\\u0051') : plain;
    })
    .map((json) => Buffer.from(json).toString());
  const pointers = fc.array(fc.constantFrom(...NAMES, '1', '2'), { minLength: 1, maxLength: 4 });
  const cuts = fc.array(fc.nat(), { maxLength: 6 });

  /** The bytes that a reader of the whole text finds; undefined: none. */
  function findBytes(json: string, pointer: readonly string[]): Buffer | undefined {
    let at: unknown;
    try {
      at = JSON.parse(json);
    } catch {
      return undefined;
    }
    for (const step of pointer) {
      const isIndex = !Array.isArray(at) || /^(?:0|[1-9]\d*)$/.test(step);
      if (typeof at !== 'object' || at === null || !isIndex || !Object.hasOwn(at, step)) return undefined;
      at = (at as Record<string, unknown>)[step];
    }
    const bytes = typeof at === 'string' ? Buffer.from(at, 'base64') : undefined;
    return bytes?.toString('base64') === at ? bytes : undefined;
  }

  function expectOutcome(outcome: Outcome, bytes: Buffer | undefined): void {
    if (bytes === undefined) expect(outcome).toMatchObject({ code: 'malformed' });
    else expect(outcome).toEqual({ bytes });
  }

  /** The pointers to all strings of a value. */
  function listPointers(json: unknown, way: readonly string[] = []): (readonly string[])[] {
    if (typeof json === 'string') return way.length > 0 ? [way] : [];
    if (typeof json !== 'object' || json === null) return [];
    return Object.entries(json).flatMap(([step, inner]) => listPointers(inner, [...way, step]));
  }

  test('about every string of a text, in chunks that end anywhere', () => {
    fc.assert(
      fc.property(written, cuts, (json, at) => {
        for (const pointer of listPointers(JSON.parse(json))) {
          const bytes = findBytes(json, pointer);
          expectOutcome(read(split(json, at), pointer), bytes);
        }
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });

  test('about any pointer and texts in which characters are changed, removed or inserted', () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.constantFrom('"', '\\', '{', '}', ',', ':', ']', '1', ' ', '')), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(written, changes, pointers, cuts, (json, edits, pointer, at) => {
        const mutated = edits.reduce((left, [place, by]) => {
          const position = place % (left.length + 1);
          return left.slice(0, position) + by + left.slice(position + (place % 2));
        }, json);
        const outcome = read(split(mutated, at), pointer);
        // a name that occurs twice is refused, although a parser takes its last value
        if ('said' in outcome && outcome.said.includes('occurs twice')) return;
        const bytes = findBytes(Buffer.from(mutated).toString(), pointer);
        expectOutcome(outcome, bytes);
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });
});

test('between two chunks the reader holds three characters, whatever the length of the text', () => {
  const GROUP = 'Wlpa';
  // each chunk begins and ends within a group
  const chunks = [0, 1, 2, 3].map((from) =>
    Buffer.from(GROUP.repeat(CHUNK_BYTES / 4 + 1))
      .subarray(from)
      .subarray(0, CHUNK_BYTES + 1),
  );
  const reader = newBase64JsonReader(['a', '0']);
  reader.take(Buffer.from('{"a":["'));
  let [came, went] = [0, 0];
  for (let count = 0; count < CHUNKS; count += 1) {
    const chunk = chunks[count % 4]!;
    came += chunk.length;
    went += (reader.take(chunk).length * 4) / 3;
    expect(came - went).toBeLessThanOrEqual(HELD_CHARACTERS_MAX);
  }
  reader.take(Buffer.from('"]}'));
  reader.finish();

  expect([came, went]).toEqual([CHUNKS * (CHUNK_BYTES + 1), came]);
});
