import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, test } from '@jest/globals';
import { Kind, KindSchema, ProblemSchema } from '@reelgate/proto/problem/v1/problem';
import fc from 'fast-check';
import { EVERY_KIND, readFields } from '../../testing/refusals.ts';
import { Problem, isProblem } from '../problem.ts';
import type { ProblemKind } from '../problem.ts';
import { fromConnectError, toConnectError, decodeStatus, encodeStatusDetails } from './problems.ts';

/** The code that third-party programs see for each kind. */
const CODES: Readonly<Record<ProblemKind, Code>> = {
  invalid: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  forbidden: Code.PermissionDenied,
  not_found: Code.NotFound,
  conflict: Code.FailedPrecondition,
  exhausted: Code.ResourceExhausted,
  unprocessable: Code.InvalidArgument,
  gone: Code.NotFound,
  unavailable: Code.Unavailable,
  internal: Code.Internal,
};

const overTheWire = (thrown: unknown): Problem => {
  const error = toConnectError(thrown);
  return fromConnectError(decodeStatus(error.code, error.rawMessage, encodeStatusDetails(error))!);
};

describe('a Problem as a status', () => {
  test.each(EVERY_KIND)('of the kind %s has its code and its kind', (kind) => {
    const error = toConnectError(new Problem({ kind, reason: 'a_reason', message: 'a message' }));

    expect(error.code).toBe(CODES[kind]);
    expect(error.rawMessage).toBe('a message');
    expect(error.findDetails(ProblemSchema)).toMatchObject([
      { kind: Kind[kind.toUpperCase() as keyof typeof Kind], reason: 'a_reason', message: 'a message' },
    ]);
  });

  test('has a kind for each kind of the contract', () => {
    expect(
      KindSchema.values
        .map(({ localName }) => localName.toLowerCase())
        .filter((name) => name !== 'unspecified')
        .toSorted(),
    ).toEqual(EVERY_KIND.toSorted());
  });

  test.each([
    ['account_id', 'is required', 'account_id is required'],
    ['content[0].url', 'must be an http address', 'content[0].url must be an http address'],
    [undefined, 'no such task', 'no such task'],
    ['', 'no such task', 'no such task'],
  ])('for the field %p with the message %s has the message %s', (field, message, said) => {
    const problem = new Problem({ kind: 'invalid', reason: 'a_reason', message, field });

    expect(toConnectError(problem).rawMessage).toBe(said);
    expect(overTheWire(problem)).toMatchObject({ message, field: field === '' ? undefined : field });
  });

  test('carries its metadata, also in the standard details', () => {
    const metadata = { amount: '0.4', currency: 'USD' };
    const problem = new Problem({ kind: 'unprocessable', reason: 'a_reason', message: 'no', metadata });

    expect(overTheWire(problem).metadata).toEqual(metadata);
    expect(toConnectError(problem).details).toContainEqual(
      expect.objectContaining({ value: { reason: 'A_REASON', domain: 'reelgate', metadata } }),
    );
    expect(overTheWire(new Problem({ kind: 'invalid', reason: 'a_reason', message: 'no' })).metadata).toBeUndefined();
  });

  test('is unchanged after encoding and decoding', () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(
        fc.constantFrom(...EVERY_KIND),
        line,
        line,
        fc.option(line, { nil: undefined }),
        fc.option(fc.integer({ min: 1, max: 1e12 }), { nil: undefined }),
        (kind, reason, message, field, retryAfterMs) => {
          const problem = new Problem({ kind, reason, message, field, retryAfterMs });

          expect(readFields(overTheWire(problem))).toEqual(readFields(problem));
        },
      ),
    );
  });

  test.each([
    [new Error('secret')],
    ['secret'],
    [undefined],
    [null],
    [{ kind: 'invalid', reason: 'x', message: 'secret' }],
  ])('is internal when %p is thrown, and reveals nothing of it', (thrown) => {
    const error = toConnectError(thrown);

    expect(error.code).toBe(Code.Internal);
    expect(readFields(overTheWire(thrown))).toEqual({
      kind: 'internal',
      reason: 'internal_error',
      message: 'something went wrong here',
      field: undefined,
      retryAfterMs: undefined,
    });
    expect(error.message).not.toContain('secret');
    expect(encodeStatusDetails(error).toString('latin1')).not.toContain('secret');
  });

  test('that is missing from an error becomes service unavailable', () => {
    expect(fromConnectError(new ConnectError('no such method', Code.Unimplemented))).toMatchObject({
      kind: 'unavailable',
      reason: 'service_unavailable',
    });
  });

  test('of an unknown kind is internal', () => {
    const newer = fromBinary(
      ProblemSchema,
      new Uint8Array([8, 99, ...toBinary(ProblemSchema, create(ProblemSchema, { reason: 'new', message: 'new' }))]),
    );

    expect(
      fromConnectError(new ConnectError('', Code.Unknown, undefined, [{ desc: ProblemSchema, value: newer }])),
    ).toMatchObject({ kind: 'internal', reason: 'new' });
  });
});

test('a Problem is recognised by its class and, on request, its reason', () => {
  const problem = new Problem({
    kind: 'gone',
    reason: 'result_expired',
    message: 'it is no longer kept',
    cause: 'why',
  });

  expect([isProblem(problem), isProblem(problem, 'result_expired'), isProblem(problem, 'other')]).toEqual([
    true,
    true,
    false,
  ]);
  expect([
    isProblem(new Error('no')),
    isProblem(undefined),
    isProblem({ kind: 'gone', reason: 'result_expired' }),
  ]).toEqual([false, false, false]);
  expect(problem).toMatchObject({ name: 'Problem', cause: 'why' });
});
