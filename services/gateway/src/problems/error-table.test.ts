import { describe, expect, test } from '@jest/globals';
import type { ProblemKind } from '@reelgate/platform/problem';
import { expectGolden } from '../../testing/golden.ts';
import { chooseEnvelope, enclose } from './envelopes.ts';
import type { EnvelopeName } from '../dialects/dialect.ts';
import { findErrorRow } from './error-table.ts';

describe('a refusal has the answer of the table', () => {
  test.each<[ProblemKind, string, number, string, number]>([
    ['invalid', 'invalid_json', 400, 'bad_request_error', 2013],
    ['invalid', 'missing_model', 400, 'bad_request_error', 2013],
    ['invalid', 'conflicting_source', 400, 'bad_request_error', 2013],
    ['invalid', 'model_price_error', 400, 'bad_request_error', 2013],
    ['invalid', 'invalid_idempotency_key', 400, 'bad_request_error', 2013],
    ['invalid', 'source_task_not_ready', 400, 'bad_request_error', 2013],
    ['invalid', 'invalid_media', 400, 'bad_request_error', 2013],
    ['unauthenticated', 'invalid_api_key', 401, 'authorized_error', 1004],
    ['forbidden', 'token_disabled', 403, 'authorized_error', 1004],
    ['not_found', 'model_not_found', 404, 'bad_request_error', 2013],
    ['not_found', 'task_not_found', 404, 'bad_request_error', 2013],
    ['not_found', 'not_found', 404, 'bad_request_error', 2013],
    ['invalid', 'method_not_allowed', 405, 'bad_request_error', 2013],
    ['conflict', 'task_not_cancellable', 409, 'bad_request_error', 2013],
    ['conflict', 'task_not_completed', 409, 'bad_request_error', 2013],
    ['conflict', 'idempotency_key_in_use', 409, 'bad_request_error', 2013],
    ['gone', 'result_expired', 410, 'bad_request_error', 2013],
    ['invalid', 'body_too_large', 413, 'bad_request_error', 2013],
    ['invalid', 'unsupported_media_type', 415, 'bad_request_error', 2013],
    ['unprocessable', 'content_rejected', 422, 'unprocessable_entity_error', 1026],
    ['unprocessable', 'idempotency_key_reused', 422, 'bad_request_error', 2013],
    ['exhausted', 'rate_limit_exceeded', 429, 'rate_limit_error', 1002],
    ['exhausted', 'too_many_tasks', 429, 'rate_limit_error', 1002],
    ['exhausted', 'queue_full', 429, 'rate_limit_error', 1002],
    ['exhausted', 'would_wait_too_long', 429, 'rate_limit_error', 1002],
    ['exhausted', 'insufficient_quota', 429, 'insufficient_balance_error', 1008],
    ['internal', 'internal_error', 500, 'server_error', 1000],
    ['unavailable', 'api_not_implemented', 501, 'server_error', 1000],
    ['unavailable', 'no_channel_available', 503, 'server_error', 1000],
    ['unavailable', 'service_unavailable', 503, 'server_error', 1000],
  ])('%s %s: %i, %s (%i)', (kind, reason, status, type, number) => {
    expect(findErrorRow({ kind, reason })).toMatchObject({ status, vendor: { type, number } });
  });

  test.each<[ProblemKind, number]>([
    ['invalid', 400],
    ['unauthenticated', 401],
    ['forbidden', 403],
    ['not_found', 404],
    ['conflict', 409],
    ['exhausted', 429],
    ['unprocessable', 422],
    ['gone', 410],
    ['unavailable', 503],
    ['internal', 500],
  ])('a reason that is not in the table is answered by its kind: %s is %i', (kind, status) => {
    expect(findErrorRow({ kind, reason: 'constructor' }).status).toBe(status);
  });
});

test.each<[string, EnvelopeName]>([
  ['/v1/videos', 'openai'],
  ['/v1/messages', 'anthropic'],
  ['/v1/messages/count_tokens', 'anthropic'],
  ['/v1/messagesx', 'openai'],
  ['/v1beta/models/a:generateContent', 'google'],
  ['/v1/models/a:generateContent', 'google'],
  ['/v1/models/a', 'openai'],
  ['/v2/video_generation', 'vendor'],
  ['/v2', 'vendor'],
  ['/v2x', 'openai'],
  ['/v3/video_generation', 'openai'],
  ['/api/v1/videos', 'openrouter'],
  ['/api/v1', 'openrouter'],
  ['/api/v1/messages', 'anthropic'],
  ['/api/v2', 'openai'],
  ['/async/v1/messages', 'openai'],
  ['/', 'openai'],
  ['/ximg/a.mp4', 'openai'],
])('a refusal at %s is in the envelope %s', (path, envelope) => {
  expect(chooseEnvelope(path)).toBe(envelope);
});

test('every envelope is as in the golden file', () => {
  const refusals = {
    field: {
      row: findErrorRow({ kind: 'invalid', reason: 'invalid_duration' }),
      code: 'invalid_duration',
      message: 'duration must be whole seconds from 4 to 15',
      param: 'duration',
      requestId: 'req_1',
    },
    'no field': {
      row: findErrorRow({ kind: 'unauthenticated', reason: 'invalid_api_key' }),
      code: 'invalid_api_key',
      message: 'missing or malformed token',
      param: undefined,
      requestId: 'req_1',
    },
    fault: {
      row: findErrorRow({ kind: 'internal', reason: 'internal_error' }),
      code: 'internal_error',
      message: 'internal error',
      param: undefined,
      requestId: 'req_1',
    },
  };
  const envelopes = {
    openai: true,
    vendor: true,
    anthropic: true,
    google: true,
    mcp: true,
    openrouter: true,
  } satisfies Record<EnvelopeName, true>;
  const names = Object.keys(envelopes) as EnvelopeName[];

  expectGolden(
    'refusals',
    Object.fromEntries(
      names.map((name) => [
        name,
        Object.fromEntries(Object.entries(refusals).map(([what, refusal]) => [what, enclose(name, refusal)])),
      ]),
    ),
  );
});
