import { getTextEncoding } from '@bufbuild/protobuf/wire';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { quickenMessageTexts } from './message-texts.ts';

const withSurrogates = fc.array(fc.nat(0xff_ff)).map((units) => String.fromCharCode(...units));

test('the texts of messages have the bytes that TextEncoder gives them', () => {
  const standard = new TextEncoder();

  quickenMessageTexts();

  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), withSurrogates), (text) => {
      expect([...getTextEncoding().encodeUtf8(text)]).toEqual([...standard.encode(text)]);
    }),
  );
});
