import { expect, test } from '@jest/globals';
import { scrubError } from './scrub-error.ts';

const identities = { publicModel: 'mine', upstreamModel: 'gpt-x', hidden: ['api.up.example', 'key-of-the-upstream'] };
const scrubbed = (body: unknown): unknown =>
  JSON.parse(scrubError(Buffer.from(JSON.stringify(body)), identities)?.toString() ?? 'null');

test.each([
  ['The model `gpt-x` does not exist', 'The model `mine` does not exist'],
  [
    'Rate limit reached for gpt-x in organization org-AbC123def on tokens',
    'Rate limit reached for mine in organization *** on tokens',
  ],
  [
    'Incorrect API key provided: sk-proj-abc***xyz. See https://platform.up.example/keys.',
    'Incorrect API key provided: ***. See ***.',
  ],
  ['connect to api.up.example failed, request req_011CSHoEeqs5C35K2UUqR7Fy', 'connect to *** failed, request ***'],
  ['key-of-the-upstream is wrong', '*** is wrong'],
  ['no org_AbC123def, no user-0123456789abc and no AIzaSyA1234567', 'no ***, no *** and no ***'],
  [
    'skipping a sketchy org_policy_check of the user_message_content',
    'skipping a sketchy org_policy_check of the user_message_content',
  ],
  ['max_tokens is too large: 99999', 'max_tokens is too large: 99999'],
])('identities in a message are masked: %s', (message, after) => {
  expect(scrubbed({ error: { message, type: 'x', param: null, code: 'c' } })).toEqual({
    error: { message: after, type: 'x', param: null, code: 'c' },
  });
});

test('members that name a request or an owner are removed at any depth', () => {
  expect(
    scrubbed({
      type: 'error',
      error: { type: 'x', message: 'm', details: [{ project_id: 'p', reason: 'r' }] },
      request_id: 'req_1',
    }),
  ).toEqual({ type: 'error', error: { type: 'x', message: 'm', details: [{ reason: 'r' }] } });
});

test.each(['<html>502 from api.up.example</html>', '', '"text"', '{"error":', `${'['.repeat(65)}${']'.repeat(65)}`])(
  'a body that is not an envelope is not shown: %s',
  (body) => {
    expect(scrubError(Buffer.from(body), identities)).toBeUndefined();
  },
);
