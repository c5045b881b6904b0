import { describe, expect, test } from '@jest/globals';
import { CUT_TEXT } from '@reelgate/adapter-kit/kit';
import { newAnswerCollector } from './answer-collector.ts';
import type { AnswerLimits } from './answer-collector.ts';

const LIMITS: AnswerLimits = { text: 10, kept: 100, whole: 1000 };
const PIECE = Buffer.from('AAAAA');

/** Returns the body, or `too long` with the number of bytes that came. */
function collect(parts: Iterable<Buffer>, limits = LIMITS): unknown {
  const answer = newAnswerCollector(limits);
  let bytes = 0;
  answer.begin(200, {});
  for (const part of parts) {
    bytes += part.length;
    if (!answer.take(part)) return ['too long', bytes];
  }
  return answer.whole().body;
}

function* endless(begin: string): Iterable<Buffer> {
  yield Buffer.from(begin);
  for (;;) yield PIECE;
}

describe('an answer', () => {
  test.each<[string, string, unknown]>([
    ['shorter than a long text, with its value', '{"a":"b"}', { a: 'b' }],
    ['longer than a long text, with its value', '{"a":"b","c":["d",1]}', { a: 'b', c: ['d', 1] }],
    ['with a long text, with a mark in its place', `{"a":"${'b'.repeat(11)}","c":1}`, { a: CUT_TEXT, c: 1 }],
    ['shorter than a long text that is no JSON, as none', '<html>', undefined],
    ['longer than a long text that is no JSON, as none', '<html lang="en">no</html>', undefined],
    ['that ends in a long text, as none', `{"a":"${'b'.repeat(50)}`, undefined],
    ['with a line break in a long text, as none', `{"a":"${'b'.repeat(50)}\n"}`, undefined],
    ['with a number that is too large, with its digits', '{"id":9007199254740993}', { id: '9007199254740993' }],
    ['with a large number below zero, with its digits', '[-42401098573862912345]', ['-42401098573862912345']],
    ['with the largest safe number, as a number', '[9007199254740991]', [9007199254740991]],
    ['with a long fraction, as a number', '[0.12345678901234567,1e300]', [0.12345678901234567, 1e300]],
    ['without content, as none', '', undefined],
  ])('is read %s', (_what, text, body) => {
    expect(collect([Buffer.from(text)])).toEqual(body);
    expect(collect([...Buffer.from(text)].map((byte) => Buffer.from([byte])))).toEqual(body);
  });

  test('with more members than the bounds allow is read as none', () => {
    const members = Array.from({ length: 5001 }, (_none, index) => `"k${index}":1`);
    const limits = { text: 10, kept: 100_000, whole: 100_000 };

    expect(collect([Buffer.from(`{${members.slice(1).join(',')}}`)], limits)).toHaveProperty('k5000', 1);
    expect(collect([Buffer.from(`{${members.join(',')}}`)], limits)).toBeUndefined();
  });

  test('without an end is dropped when too much of it is kept', () => {
    expect(collect(endless('['))).toEqual(['too long', 101]);
  });

  test('whose text has no end is dropped at its limit', () => {
    expect(collect(endless('{"a":"'))).toEqual(['too long', 1001]);
  });

  test('with long texts whose marks alone are too much is dropped', () => {
    const texts = Array.from({ length: 20 }, () => Buffer.from(`,"${'A'.repeat(11)}"`));

    expect(collect([Buffer.from('[0'), ...texts])).toEqual(['too long', expect.any(Number)]);
  });
});
