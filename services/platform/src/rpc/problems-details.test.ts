import { anyPack } from '@bufbuild/protobuf/wkt';
import { create, toJson } from '@bufbuild/protobuf';
import type { DescMessage } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { describe, expect, test } from '@jest/globals';
import { EVERY_KIND } from '../../testing/refusals.ts';
import { Problem } from '../problem.ts';
import type { ProblemInit } from '../problem.ts';
import { BadRequestSchema, ErrorInfoSchema, QuotaFailureSchema, RetryInfoSchema } from './error-details-descriptor.ts';
import { toConnectError, decodeStatus, encodeStatusDetails } from './problems.ts';

const SCHEMAS: Readonly<Record<string, DescMessage>> = {
  ErrorInfo: ErrorInfoSchema,
  BadRequest: BadRequestSchema,
  RetryInfo: RetryInfoSchema,
  QuotaFailure: QuotaFailureSchema,
};

const aProblem = (init: Partial<ProblemInit> = {}): Problem =>
  new Problem({ kind: 'invalid', reason: 'invalid_duration', message: 'must be from 4 to 15', ...init });

/** The standard details of a refusal, read from the bytes of its status. */
function detailsOf(problem: Problem): Readonly<Record<string, unknown>> {
  const sent = toConnectError(problem);
  const status = decodeStatus(sent.code, sent.rawMessage, encodeStatusDetails(sent))!;
  return Object.fromEntries(
    Object.entries(SCHEMAS).flatMap(([name, schema]) =>
      status.findDetails(schema).map((detail) => [name, toJson(schema, detail)]),
    ),
  );
}

describe('a refusal has the details of google.rpc', () => {
  test.each(EVERY_KIND)('ErrorInfo with its reason and the domain: %s', (kind) => {
    expect(detailsOf(aProblem({ kind }))).toMatchObject({
      ErrorInfo: { reason: 'INVALID_DURATION', domain: 'reelgate' },
    });
  });

  test('BadRequest if a field is at fault, and only then', () => {
    expect(detailsOf(aProblem({ field: 'duration' }))).toMatchObject({
      BadRequest: {
        fieldViolations: [{ field: 'duration', description: 'must be from 4 to 15', reason: 'INVALID_DURATION' }],
      },
    });
    expect(detailsOf(aProblem())).not.toHaveProperty('BadRequest');
    expect(detailsOf(aProblem({ field: '' }))).not.toHaveProperty('BadRequest');
  });

  test('RetryInfo if a retry can help, and only then', () => {
    expect(detailsOf(aProblem({ kind: 'unavailable', retryAfterMs: 1500.2 }))).toMatchObject({
      RetryInfo: { retryDelay: '1.501s' },
    });
    expect(detailsOf(aProblem({ kind: 'unavailable' }))).not.toHaveProperty('RetryInfo');
    expect(detailsOf(aProblem({ kind: 'unavailable', retryAfterMs: 0 }))).not.toHaveProperty('RetryInfo');
  });

  test('QuotaFailure if a quota is exhausted, and only then', () => {
    const exhausted = aProblem({ kind: 'exhausted', reason: 'too_many_tasks', message: 'too many tasks' });

    expect(detailsOf(exhausted)).toMatchObject({
      QuotaFailure: { violations: [{ subject: 'reelgate:TOO_MANY_TASKS', description: 'too many tasks' }] },
    });
    expect(detailsOf(aProblem())).not.toHaveProperty('QuotaFailure');
  });
});

test('a fault shows its code and nothing else', () => {
  const error = toConnectError(new TypeError('secret'));

  expect(error.code).toBe(Code.Internal);
  expect(encodeStatusDetails(error).toString('latin1')).toContain('INTERNAL_ERROR');
  expect(encodeStatusDetails(error).toString('latin1')).not.toContain('secret');
});

test('the details of the longest refusal fit into a trailer', () => {
  const text = '漢'.repeat(100_000);
  const problem = aProblem({ kind: 'exhausted', reason: text, message: text, field: text, retryAfterMs: 1 });
  const error = toConnectError(problem);

  const trailer = encodeStatusDetails(error).toString('base64').length + encodeURIComponent(error.rawMessage).length;

  expect(trailer).toBeLessThan(64 * 1024);
});

/** The field numbers of `google/rpc/error_details.proto`, as bytes: the tag is the number times eight, plus two. */
test.each<[string, DescMessage, object, readonly (number | string)[]]>([
  [
    'google.rpc.ErrorInfo',
    ErrorInfoSchema,
    { reason: 'R', domain: 'D', metadata: { k: 'v' } },
    [10, 1, 'R', 18, 1, 'D', 26, 6, 10, 1, 'k', 18, 1, 'v'],
  ],
  [
    'google.rpc.BadRequest',
    BadRequestSchema,
    { fieldViolations: [{ field: 'f', description: 'd', reason: 'R' }] },
    [10, 9, 10, 1, 'f', 18, 1, 'd', 26, 1, 'R'],
  ],
  ['google.rpc.RetryInfo', RetryInfoSchema, { retryDelay: { seconds: 3n } }, [10, 2, 8, 3]],
  [
    'google.rpc.QuotaFailure',
    QuotaFailureSchema,
    { violations: [{ subject: 's', description: 'd' }] },
    [10, 6, 10, 1, 's', 18, 1, 'd'],
  ],
])('%s has the bytes that other libraries read', (name, schema, init, bytes) => {
  const { typeUrl, value } = anyPack(schema, create(schema, init as never));

  expect(typeUrl).toBe(`type.googleapis.com/${name}`);
  expect([...value]).toEqual(bytes.map((byte) => (typeof byte === 'string' ? byte.charCodeAt(0) : byte)));
});
