import { describe, expect, test } from '@jest/globals';
import { CUT_TEXT } from '@reelgate/adapter-kit/kit';
import fc from 'fast-check';
import { newLongTextCutter } from './long-text-cutter.ts';

const SEED = 20_261_126;
const RUNS = 2000;
/** Small, so that many texts of a case are long. */
const TEXT_BYTES_MAX = 6;
const CHUNK_BYTES = 64 * 1024;
/** 64 MiB. */
const CHUNKS = 1024;

function cut(chunks: readonly Buffer[], textBytesMax = TEXT_BYTES_MAX): unknown {
  const cutter = newLongTextCutter(textBytesMax);
  for (const chunk of chunks) cutter.take(chunk);
  const json = cutter.finish();
  return json === undefined ? undefined : parse(json);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Splits bytes into chunks that end at these positions. */
function split(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const ends = [...cuts.map((at) => at % (bytes.length + 1)), bytes.length].sort((one, two) => one - two);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

/** Replaces the long texts of JSON as the specification says it, with the text as a whole in memory. */
function replaceLongTexts(json: string): string {
  return json.replaceAll(/"((?:[^"\\]|\\.)*)"/gs, (written, inner: string) =>
    Buffer.byteLength(inner) > TEXT_BYTES_MAX ? JSON.stringify(CUT_TEXT) : written,
  );
}

const cuts = fc.array(fc.nat(), { maxLength: 8 });
/** The characters of a text, each in the forms that JSON has for it. */
const character = fc.constantFrom('a', '0', 'ü', '狐', '🦊', String.raw`\u0061`, String.raw`\uD83E\uDD8A`);
const escape = fc.constantFrom(String.raw`\"`, String.raw`\\`, String.raw`\/`, String.raw`\n`, String.raw`\ud800`);
const writtenText = fc
  .array(fc.oneof(character, escape, fc.constantFrom('{', '}', ':', ',', '[')), { maxLength: 8 })
  .map((parts) => `"${parts.join('')}"`);
const { written } = fc.letrec<{ written: string; leaf: string }>((tie) => ({
  leaf: fc.oneof(writtenText, writtenText, fc.constantFrom('0', '-1.5e-7', 'true', 'null', '""')),
  written: fc.oneof(
    { maxDepth: 4 },
    tie('leaf'),
    fc.array(tie('written'), { maxLength: 4 }).map((items) => `[${items.join(' , ')}]`),
    fc
      .array(fc.tuple(writtenText, tie('written')), { maxLength: 4 })
      .map((members) => `{${members.map(([name, value]) => `${name}: ${value}`).join(',')}}`),
  ),
}));

describe('JSON that arrives in any chunks', () => {
  test('has the same value, with a mark in place of each long text and name', () => {
    fc.assert(
      fc.property(written, cuts, (json, at) => {
        expect(cut(split(Buffer.from(json), at))).toEqual(JSON.parse(replaceLongTexts(json)));
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });

  test('has the value of the whole if no text is long', () => {
    fc.assert(
      fc.property(fc.jsonValue(), cuts, (value, at) => {
        const json = JSON.stringify(value);
        expect(cut(split(Buffer.from(json), at), Buffer.byteLength(json))).toEqual(JSON.parse(json));
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });
});

test('what is no JSON as a whole is none with its texts cut, in any chunks', () => {
  const edits = fc.array(
    fc.tuple(fc.nat(), fc.constantFrom('"', '\\', '\\u12', '\n', '\0', '}', ',', ':', 'x', '', '\\x')),
    { minLength: 1, maxLength: 3 },
  );
  fc.assert(
    fc.property(written, edits, cuts, (json, changes, at) => {
      const changed = changes.reduce((left, [place, by]) => {
        const position = place % (left.length + 1);
        return left.slice(0, position) + by + left.slice(position + (place % 2));
      }, json);
      // the bytes, because an edit can part a surrogate pair
      const bytes = Buffer.from(changed);
      expect(cut(split(bytes, at)) === undefined).toBe(parse(bytes.toString()) === undefined);
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

test('bytes that are no UTF-8 are read as a decoder of the whole reads them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: TEXT_BYTES_MAX }), cuts, (raw, at) => {
      const bytes = Buffer.concat([Buffer.from('["'), raw, Buffer.from('"]')]);
      expect(cut(split(bytes, at))).toEqual(parse(bytes.toString()));
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

describe('the limit of a text', () => {
  test.each([
    ['of as many bytes', 'a'.repeat(TEXT_BYTES_MAX), false],
    ['of one byte more', 'a'.repeat(TEXT_BYTES_MAX + 1), true],
    ['of fewer characters and more bytes', '狐狐狐', true],
    ['of one character in as many bytes', String.raw`\u0061`, false],
    ['of one character in more bytes', String.raw`\u0061\u0061`, true],
  ])('counts what is written: a text %s', (_what, inner, isCut) => {
    expect(cut([Buffer.from(`["${inner}"]`)])).toEqual([isCut ? CUT_TEXT : JSON.parse(`"${inner}"`)]);
  });
});

test('a text of 64 MiB needs no more memory than a short one', () => {
  const cutter = newLongTextCutter(CHUNK_BYTES);
  const chunk = Buffer.alloc(CHUNK_BYTES, 'A');
  cutter.take(Buffer.from('{"status":"completed","data":"'));
  const before = process.memoryUsage().arrayBuffers;
  let keptMax = 0;
  for (let count = 0; count < CHUNKS; count += 1) keptMax = Math.max(keptMax, cutter.take(chunk));
  const grownBytes = process.memoryUsage().arrayBuffers - before;
  cutter.take(Buffer.from('"}'));

  expect(cutter.finish()).toBe(JSON.stringify({ status: 'completed', data: CUT_TEXT }));
  expect(keptMax).toBeLessThan(2 * CHUNK_BYTES);
  expect(grownBytes).toBeLessThan(8 * CHUNK_BYTES);
});

test('many long texts need no more memory than their marks', () => {
  const cutter = newLongTextCutter(TEXT_BYTES_MAX);
  const chunk = Buffer.from(`"${'A'.repeat(CHUNK_BYTES)}",`);
  const before = process.memoryUsage().arrayBuffers;
  cutter.take(Buffer.from('['));
  let kept = 0;
  for (let count = 0; count < 100; count += 1) kept = cutter.take(chunk);

  expect(kept).toBe('['.length + 100 * (JSON.stringify(CUT_TEXT).length + 1));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * CHUNK_BYTES);
});
