import { describe, expect, test } from '@jest/globals';
import { call } from '../../../testing/http-call.ts';
import { withRelay } from '../../../testing/relay-under-test.ts';
import { DELIVERED, events, json } from '../../../testing/scripted-relay-upstream.ts';
import type { Reply } from '../../../testing/scripted-relay-upstream.ts';

const relay = withRelay();
const TELLING = {
  'openai-organization': 'acme-corp',
  'openai-project': 'proj_AbCdEf123',
  'x-request-id': 'req_0123456789ab',
  'request-id': 'req_9876543210',
  'cf-ray': '8c1',
  'set-cookie': ['__cf_bm=abc'],
  server: 'upstream-server',
  'x-ratelimit-limit-tokens': '4242',
  'anthropic-organization-id': 'acme-corp',
  location: 'https://elsewhere.example',
  via: '1.1 upstream-proxy',
};
const SECRETS = [
  'acme-corp',
  'proj_AbCdEf123',
  'req_0123456789ab',
  'req_9876543210',
  '8c1',
  '__cf_bm',
  'upstream-server',
  '4242',
  'elsewhere.example',
  'upstream-proxy',
  'upstream-model-2026',
  'upstream-secret-key',
  'second-secret-key',
  'channel-one',
  'channel-two',
];

const ANSWERS: Record<string, Reply> = {
  'an answer': json({ ...DELIVERED, model: 'upstream-model-2026' }, 200, TELLING),
  'an answer whose headers name the host': (request, response) => {
    json(DELIVERED, 200, {
      ...TELLING,
      'x-next': `http://${String(request.headers.host)}/next`,
      'x-key': 'upstream-secret-key',
    })(request, response);
  },
  'an answer whose headers name the model': json(DELIVERED, 200, {
    ...TELLING,
    'x-served-model': 'models/upstream-model-2026-05',
  }),
  'an error with a good status': json(
    { error: { code: 400, message: 'no upstream-model-2026 for org-acme-corp with upstream-secret-key' } },
    200,
    TELLING,
  ),
  'a refusal': json(
    {
      error: {
        message: 'no upstream-model-2026 for org-acme-corp with upstream-secret-key',
        request_id: 'req_0123456789ab',
        organization: 'acme-corp',
      },
    },
    400,
    TELLING,
  ),
  'a fault': json(
    {
      error: {
        message: 'upstream-model-2026 is overloaded at acme-corp.'.replace('acme-corp', 'org-AbCdEf123'),
        type: 'x',
      },
    },
    503,
    TELLING,
  ),
  'a refused credential': json({ error: { message: 'Incorrect API key provided: upstream-secret-key' } }, 401, TELLING),
  'a redirect': json({}, 307, TELLING),
  'a page': (_request, response) =>
    void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>upstream-server upstream-proxy</h1>'),
  'a stream': events(
    ['data: {"model":"upstream-model-2026-05","choices":[{"delta":{"content":"x"}}]}\n\n'],
    TELLING as unknown as Record<string, string>,
  ),
  'a reset': (_request, response) => void response.destroy(),
};

describe('no answer identifies an upstream', () => {
  test.each(Object.entries(ANSWERS))('%s', async (_, reply) => {
    for (const upstream of relay().upstreams) upstream.reply = reply;
    const answer = await call(relay().gateway.url, 'POST', '/v1/chat/completions', {
      body: { model: 'some-model', messages: [], stream: true },
    });
    const shown = JSON.stringify(answer.headers) + answer.text;

    for (const secret of [...SECRETS, ...relay().upstreams.map(({ url }) => new URL(url).host)])
      expect(shown).not.toContain(secret);
    expect(answer.headers['x-request-id']).toMatch(/^req_[0-9a-v]{26}$/);
  });
});
