import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import { aMessage } from '../../testing/a-message.ts';
import type { FieldSpec, MessageSpec } from '../../testing/a-message.ts';
import { Problem } from '../problem.ts';
import { compileRuleCheck } from './rules.ts';

type Refusal = Pick<Problem, 'kind' | 'reason' | 'field' | 'message'>;

/** The refusal of a message, or undefined if its rules accept it. */
function verdictOn(spec: MessageSpec, init: object): Refusal | undefined {
  const message = aMessage(spec);
  try {
    compileRuleCheck(message)(create(message, init as never));
  } catch (thrown) {
    if (!(thrown instanceof Problem)) throw thrown;
    const { kind, reason, field, message: said } = thrown;
    return { kind, reason, field, message: said };
  }
  return undefined;
}

const verdictOnValue = (spec: FieldSpec, value: unknown): string | undefined =>
  verdictOn({ fields: { one: spec } }, { one: value })?.message;

describe('a rule of a field', () => {
  test.each<[string, FieldSpec, unknown, string | undefined]>([
    ['required: text', { type: 'string', rules: { required: true } }, 'x', undefined],
    ['required: no text', { type: 'string', rules: { required: true } }, '', 'is required'],
    ['required: no number', { type: 'int32', rules: { required: true } }, 0, 'is required'],
    ['required: no large number', { type: 'int64', rules: { required: true } }, 0n, 'is required'],
    ['required: zero that is present', { type: 'int32', optional: true, rules: { required: true } }, 0, undefined],
    [
      'required: an absent number',
      { type: 'int32', optional: true, rules: { required: true } },
      undefined,
      'is required',
    ],
    ['required: false', { type: 'bool', rules: { required: true } }, false, 'is required'],
    ['required: no bytes', { type: 'bytes', rules: { required: true } }, new Uint8Array(), 'is required'],
    ['required: no message', { type: 'message', rules: { required: true } }, undefined, 'is required'],
    ['required: an empty message', { type: 'message', rules: { required: true } }, {}, undefined],
    ['required: no items', { type: 'string', repeated: true, rules: { required: true } }, [], 'is required'],
    [
      'required: the zero of an enum',
      { type: 'enum', rules: { required: true } },
      0,
      'is required; must be one of COLOUR_RED, COLOUR_BLUE',
    ],
    [
      'required and in: the zero of an enum',
      { type: 'enum', rules: { required: true, in: ['COLOUR_RED'] } },
      0,
      'is required; must be one of COLOUR_RED',
    ],
    ['min_len: reached', { type: 'string', rules: { minLen: 2 } }, 'ab', undefined],
    ['min_len: missed', { type: 'string', rules: { minLen: 2 } }, 'a', 'must have at least 2 characters; it has 1'],
    ['min_len: a field that is not set', { type: 'string', rules: { minLen: 2 } }, '', undefined],
    [
      'min_len: counts code points',
      { type: 'string', rules: { minLen: 2 } },
      '😀',
      'must have at least 2 characters; it has 1',
    ],
    ['max_len: reached', { type: 'string', rules: { maxLen: 3 } }, 'abc', undefined],
    ['max_len: counts code points', { type: 'string', rules: { maxLen: 3 } }, '😀😀😀', undefined],
    ['max_len: passed', { type: 'string', rules: { maxLen: 3 } }, 'abcd', 'must have at most 3 characters; it has 4'],
    [
      'max_len: of bytes',
      { type: 'bytes', rules: { maxLen: 1 } },
      new Uint8Array(2),
      'must have at most 1 bytes; it has 2',
    ],
    [
      'min_len and max_len',
      { type: 'string', rules: { minLen: 1, maxLen: 3 } },
      'abcd',
      'must have 1 to 3 characters; it has 4',
    ],
    ['pattern: found', { type: 'string', rules: { pattern: '\\S' } }, ' a ', undefined],
    ['pattern: not found', { type: 'string', rules: { pattern: '^[a-z]+$' } }, 'A', 'must match ^[a-z]+$'],
    ['not_contains', { type: 'string', rules: { notContains: '\0' } }, 'a\0', 'must not contain "\\u0000"'],
    ['gte and lte: the least', { type: 'int32', rules: { gte: 1n, lte: 100n } }, 1, undefined],
    ['gte and lte: the most', { type: 'int32', rules: { gte: 1n, lte: 100n } }, 100, undefined],
    ['gte and lte: a field that is not set', { type: 'int32', rules: { gte: 1n, lte: 100n } }, 0, undefined],
    ['gte and lte: less', { type: 'int32', rules: { gte: 1n, lte: 100n } }, -1, 'must be from 1 to 100; it is -1'],
    ['gte and lte: more', { type: 'int64', rules: { gte: 1n, lte: 100n } }, 101n, 'must be from 1 to 100; it is 101'],
    [
      'gte: zero that is present',
      { type: 'int32', optional: true, rules: { gte: 1n } },
      0,
      'must be at least 1; it is 0',
    ],
    ['lte', { type: 'int64', rules: { lte: -1n } }, 5n, 'must be at most -1; it is 5'],
    ['in: one of the texts', { type: 'string', rules: { in: ['a', 'b'] } }, 'b', undefined],
    ['in: another text', { type: 'string', rules: { in: ['a', 'b'] } }, 'c', 'must be one of a, b; it is "c"'],
    ['in: one of the values', { type: 'enum', rules: { in: ['COLOUR_RED'] } }, 1, undefined],
    [
      'in: another value',
      { type: 'enum', rules: { in: ['COLOUR_RED'] } },
      2,
      'must be one of COLOUR_RED; it is COLOUR_BLUE',
    ],
    [
      'min_items',
      { type: 'string', repeated: true, rules: { minItems: 2 } },
      ['a'],
      'must have at least 2 items; it has 1',
    ],
    ['max_items: reached', { type: 'string', repeated: true, rules: { maxItems: 2 } }, ['a', 'b'], undefined],
    [
      'max_items: passed',
      { type: 'string', repeated: true, rules: { maxItems: 1 } },
      ['a', 'b'],
      'must have at most 1 items; it has 2',
    ],
    ['message', { type: 'string', rules: { pattern: '\\S', message: 'must not be blank' } }, ' ', 'must not be blank'],
  ])('%s', (_what, spec, value, said) => {
    expect(verdictOnValue(spec, value)).toBe(said);
  });
});

describe('an enum', () => {
  const unknown = 'has the unknown value 9; must be one of COLOUR_RED, COLOUR_BLUE';

  test.each<[string, FieldSpec, unknown]>([
    ['without rules', { type: 'enum' }, 9],
    ['that is optional', { type: 'enum', optional: true }, 9],
    ['with a message of its rule', { type: 'enum', rules: { required: true, message: 'must be red' } }, 9],
    ['in a list', { type: 'enum', repeated: true }, [1, 9]],
  ])('%s refuses an unknown value and names the known ones', (_what, spec, value) => {
    expect(verdictOnValue(spec, value)).toBe(unknown);
  });

  test('accepts every value of the contract', () => {
    for (const value of [0, 1, 2]) expect(verdictOnValue({ type: 'enum' }, value)).toBeUndefined();
  });
});

describe('a refusal', () => {
  test('is invalid_request unless the rule has a reason', () => {
    const rules = { required: true, reason: 'missing_model' };

    expect(verdictOn({ fields: { one: { type: 'string', rules: { required: true } } } }, {})).toEqual({
      kind: 'invalid',
      reason: 'invalid_request',
      field: 'one',
      message: 'is required',
    });
    expect(verdictOn({ fields: { one: { type: 'string', rules } } }, {})).toMatchObject({ reason: 'missing_model' });
  });

  test.each<[string, MessageSpec, object, string]>([
    [
      'below',
      { fields: { outer: { type: 'message' } }, inner: { text: { type: 'string', rules: { required: true } } } },
      { outer: {} },
      'outer.text',
    ],
    [
      'below, in a list',
      {
        fields: { outer: { type: 'message', repeated: true } },
        inner: { text: { type: 'string', rules: { maxLen: 1 } } },
      },
      { outer: [{ text: 'a' }, { text: 'ab' }] },
      'outer[1].text',
    ],
    [
      'in a list',
      { fields: { texts: { type: 'string', repeated: true, rules: { items: { required: true } } } } },
      { texts: ['a', ''] },
      'texts[1]',
    ],
    [
      'of a list',
      { fields: { texts: { type: 'string', repeated: true, rules: { maxItems: 1 } } } },
      { texts: ['a', 'b'] },
      'texts',
    ],
    [
      'of a oneof',
      { fields: { text: { type: 'string', chosen: true, rules: { maxLen: 1 } } } },
      { choice: { case: 'text', value: 'ab' } },
      'text',
    ],
    ['of no choice', { fields: { text: { type: 'string', chosen: true } }, choice: { required: true } }, {}, 'choice'],
  ])('names the path of a field %s', (_what, spec, init, field) => {
    expect(verdictOn(spec, init)?.field).toBe(field);
  });

  test('names the fields of a oneof that may be set', () => {
    const spec: MessageSpec = {
      fields: { text: { type: 'string', chosen: true }, bytes: { type: 'bytes', chosen: true } },
      choice: { required: true, reason: 'invalid_content' },
    };

    expect(verdictOn(spec, {})).toMatchObject({
      reason: 'invalid_content',
      message: 'is required; set one of text, bytes',
    });
    expect(verdictOn(spec, { choice: { case: 'text', value: '' } })).toBeUndefined();
  });
});

test('a oneof is checked only where its field is chosen', () => {
  const fields: MessageSpec['fields'] = {
    text: { type: 'string', chosen: true, rules: { minLen: 5 } },
    outer: { type: 'message', chosen: true },
  };

  expect(verdictOn({ fields, inner: { text: { type: 'string', rules: { required: true } } } }, {})).toBeUndefined();
});

test('items that are refused one by one pass, and too many items do not', () => {
  const spec: MessageSpec = {
    fields: { outer: { type: 'message', repeated: true, rules: { refusedSingly: true, maxItems: 2 } } },
    inner: { text: { type: 'string', rules: { required: true } } },
  };

  expect(verdictOn(spec, { outer: [{}, {}] })).toBeUndefined();
  expect(verdictOn(spec, { outer: [{}, {}, {}] })?.message).toBe('must have at most 2 items; it has 3');
});

test('a message that contains itself is checked at every depth', () => {
  const spec: MessageSpec = {
    fields: { outer: { type: 'message' } },
    inner: { text: { type: 'string', rules: { maxLen: 1 } }, again: { type: 'message', repeated: true } },
  };

  expect(verdictOn(spec, { outer: { again: [{}, { again: [{ text: 'ab' }] }] } })?.field).toBe(
    'outer.again[1].again[0].text',
  );
});

describe('a rule that does not fit its field stops the start', () => {
  test.each<[string, FieldSpec]>([
    ['max_len', { type: 'int32', rules: { maxLen: 3 } }],
    ['pattern', { type: 'bytes', rules: { pattern: 'a' } }],
    ['gte', { type: 'string', rules: { gte: 1n } }],
    ['lte', { type: 'double', rules: { lte: 1n } }],
    ['in', { type: 'int32', rules: { in: ['1'] } }],
    ['min_items', { type: 'string', rules: { minItems: 1 } }],
    ['refused_singly', { type: 'message', rules: { refusedSingly: true } }],
    ['max_len', { type: 'string', repeated: true, rules: { maxLen: 3 } }],
    ['gte', { type: 'string', repeated: true, rules: { items: { gte: 3n } } }],
  ])('%s of %j', (rule, spec) => {
    expect(() => compileRuleCheck(aMessage({ fields: { one: spec } }))).toThrow(
      new RegExp(`^reelgate.testing.v1.Outer.one has the rule .*${rule}.*, which does not fit a `),
    );
  });

  test('and so does a value that the enum does not have', () => {
    expect(() => compileRuleCheck(aMessage({ fields: { one: { type: 'enum', rules: { in: ['RED'] } } } }))).toThrow(
      'not all of RED are values of the enum',
    );
  });
});
