import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import type { JobAnswer } from '../clients/jobs-client.ts';
import { relayEndpoints } from '../relay/endpoints.ts';
import type { LineAnswer } from './batch-endpoint.ts';
import { callEndpoint } from './call-lines.ts';

const endpoint = callEndpoint(relayEndpoints.find(({ path }) => path === '/v1/chat/completions')!);
const BODY = { model: 'some-model', messages: [{ role: 'user', content: 'hello' }] };
const FAILURE = { code: 'outcome_unknown', message: 'it is not known whether the upstream did the work' };

/** The line of a job with an answer, as its file has it. */
async function encode(
  answer: Partial<JobAnswer> | undefined,
  kept: ReadonlyMap<string, string> = new Map(),
  failure?: typeof FAILURE,
): Promise<unknown> {
  const whole: JobAnswer | undefined = answer && {
    statusCode: 200,
    contentType: 'application/json',
    encoding: 'json',
    size: 1,
    body: { inline: Buffer.from('{}') },
    ...answer,
  };
  const links = {} as Parameters<typeof endpoint.encode>[1]['links'];
  const read = async (object: string): Promise<Readable | undefined> => {
    const text = kept.get(object);
    return text === undefined ? undefined : Readable.from([Buffer.from(text)]);
  };
  const job = { id: 'job_1', state: 'completed' as const, answer: whole, failure };
  return readAnswer(await endpoint.encode({ job }, { links, media: { read }, charges: new Map() }));
}

async function readAnswer(answer: LineAnswer): Promise<unknown> {
  if (!('body' in answer)) return answer;
  const { statusCode, body } = answer;
  if (!(Symbol.asyncIterator in body)) return { statusCode, body };
  return { statusCode, body: (await Array.fromAsync(body)).map(String).join('') };
}

describe('the line of a call', () => {
  test('is stored as its route would receive it', () => {
    expect(endpoint.decode(BODY, new Map())).toEqual({
      isRepeatable: false,
      call: {
        endpoint: 'chat',
        method: 'POST',
        path: '/v1/chat/completions',
        model: 'some-model',
        search: '',
        headers: ['content-type', 'application/json'],
        body: { inline: Buffer.from(JSON.stringify(BODY)) },
      },
    });
  });

  test('ends alone if it asks for a stream', () => {
    expect(endpoint.decode({ ...BODY, stream: true }, new Map())).toMatchObject({
      fault: { code: 'invalid_request', param: 'stream' },
    });
  });

  test.each<[string, Partial<JobAnswer>, unknown]>([
    ['JSON', {}, { statusCode: 200, body: '{}' }],
    [
      'JSON with line breaks, which a line cannot have',
      { body: { inline: Buffer.from('{\n  "é": "a\\nb"\r\n}') } },
      { statusCode: 200, body: '{   "é": "a\\nb"  }' },
    ],
    ['a refusal', { statusCode: 400 }, { statusCode: 400, body: '{}' }],
    [
      'text',
      { encoding: 'text', body: { inline: Buffer.from('a\n"b"') } },
      { statusCode: 200, body: String.raw`"a\n\"b\""` },
    ],
    ['bytes', { encoding: 'base64', body: { inline: Buffer.from([1, 2]) } }, { statusCode: 200, body: '"AQI="' }],
    ['nothing', { encoding: 'none', body: { inline: Buffer.alloc(0) } }, { statusCode: 200, body: 'null' }],
    ['a private object', { body: { object: 'prv_1' } }, { statusCode: 200, body: '{"kept":1}' }],
    [
      'an object that is gone',
      { body: { object: 'prv_2' } },
      { error: { code: 'task_deleted', message: 'the answer was deleted before the batch ended' } },
    ],
  ])('shows the answer of its call: %s', async (_what, answer, expected) => {
    expect(await encode(answer, new Map([['prv_1', '{"kept":1}']]))).toEqual(expected);
  });

  test('without an answer says why', async () => {
    expect(await encode(undefined, new Map(), FAILURE)).toEqual({ error: FAILURE });
  });
});
