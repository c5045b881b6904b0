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
  ['OpenAI is overloaded. Contact us at help.openai.com.', 'the upstream is overloaded. '],
  ['no quota in Vertex AI; ask help@google.com', 'no quota in the upstream; ask …'],
  ['unknown tool google_search of gemini-2.5-pro', 'unknown tool google_search of gemini-2.5-pro'],
])('identities in a message are masked: %s', (message, after) => {
  expect(scrubbed({ error: { message, type: 'x', param: null, code: 'c' } })).toEqual({
    error: { message: after, type: 'x', param: null, code: 'c' },
  });
});

test.each([
  ['DataInspectionFailed', 'content_rejected'],
  ['InvalidParameter.Model', 'invalid_request'],
  ['InternalError', 'failed'],
  ['context_length_exceeded', 'context_length_exceeded'],
  ['RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED'],
  ['invalid_api_key', 'invalid_api_key'],
])('a code in the spelling of one vendor becomes one of all: %s', (code, after) => {
  expect(scrubbed({ error: { message: 'm', code } })).toEqual({ error: { message: 'm', code: after } });
  expect(scrubbed({ code, message: 'm' })).toEqual({ code: after, message: 'm' });
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
