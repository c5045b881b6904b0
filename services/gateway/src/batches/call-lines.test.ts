import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { JobEncoding, JobSchema } from '@reelgate/proto/tasks/v1/job';
import type { JobAnswer, JobAnswerSchema } from '@reelgate/proto/tasks/v1/job';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { relayEndpoints } from '../relay/endpoints.ts';
import { callEndpoint } from './batch-endpoints.ts';
import type { LineAnswer } from './batch-endpoints.ts';

const endpoint = callEndpoint(relayEndpoints.find(({ path }) => path === '/v1/chat/completions')!);
const BODY = { model: 'some-model', messages: [{ role: 'user', content: 'hello' }] };
const inline = (bytes: string | Buffer) => ({ case: 'inline' as const, value: Buffer.from(bytes as string) });
const FAILURE = { code: 'outcome_unknown', message: 'it is not known whether the upstream did the work' };

type AnswerInit = Exclude<MessageInitShape<typeof JobAnswerSchema>, JobAnswer>;

/** The line of a job with an answer, as its file has it. */
async function encode(
  answer: AnswerInit | undefined,
  kept: ReadonlyMap<string, string> = new Map(),
  failure?: typeof FAILURE,
): Promise<unknown> {
  const whole = {
    statusCode: 200,
    contentType: 'application/json',
    encoding: JobEncoding.JSON,
    size: 1n,
    body: inline('{}'),
    ...answer,
  };
  const links = {} as Parameters<typeof endpoint.encode>[1]['links'];
  const read = async (object: string): Promise<Readable | undefined> => {
    const text = kept.get(object);
    return text === undefined ? undefined : Readable.from([Buffer.from(text)]);
  };
  const job = create(JobSchema, {
    id: 'job_1',
    state: TaskState.COMPLETED,
    ...(answer === undefined ? {} : { answer: whole }),
    ...(failure === undefined ? {} : { failure }),
  });
  const parts = { links, media: { read }, charges: new Map<string, never>() };
  return readAnswer(await endpoint.encode({ case: 'job', value: job }, parts));
}

async function readAnswer(answer: LineAnswer): Promise<unknown> {
  if (!('body' in answer)) return answer;
  const { statusCode, body } = answer;
  if (!(Symbol.asyncIterator in body)) return { statusCode, body };
  return { statusCode, body: (await Array.fromAsync(body)).map(String).join('') };
}

describe('the line of a call', () => {
  test('is stored as its route would receive it', () => {
    expect(endpoint.decode(BODY, new Map()).body).toMatchObject({
      case: 'call',
      value: {
        repeatable: false,
        call: {
          endpoint: 'chat',
          method: 'POST',
          path: '/v1/chat/completions',
          model: 'some-model',
          query: '',
          headers: [{ name: 'content-type', value: 'application/json' }],
          body: inline(JSON.stringify(BODY)),
          label: '',
        },
      },
    });
  });

  test('ends alone if it asks for a stream', () => {
    expect(endpoint.decode({ ...BODY, stream: true }, new Map()).body).toMatchObject({
      case: 'fault',
      value: { code: 'invalid_request', param: 'stream' },
    });
  });

  test.each<[string, AnswerInit, unknown]>([
    ['JSON', {}, { statusCode: 200, body: '{}' }],
    [
      'JSON with line breaks, which a line cannot have',
      { body: inline('{\n  "é": "a\\nb"\r\n}') },
      { statusCode: 200, body: '{   "é": "a\\nb"  }' },
    ],
    ['a refusal', { statusCode: 400 }, { statusCode: 400, body: '{}' }],
    ['text', { encoding: JobEncoding.TEXT, body: inline('a\n"b"') }, { statusCode: 200, body: String.raw`"a\n\"b\""` }],
    ['bytes', { encoding: JobEncoding.BASE64, body: inline(Buffer.from([1, 2])) }, { statusCode: 200, body: '"AQI="' }],
    ['nothing', { encoding: JobEncoding.UNSPECIFIED, body: inline('') }, { statusCode: 200, body: 'null' }],
    ['a private object', { body: { case: 'object', value: 'prv_1' } }, { statusCode: 200, body: '{"kept":1}' }],
    [
      'an object that is gone',
      { body: { case: 'object', value: 'prv_2' } },
      { error: { code: 'task_deleted', message: 'the answer was deleted before the batch ended' } },
    ],
  ])('shows the answer of its call: %s', async (_what, answer, expected) => {
    expect(await encode(answer, new Map([['prv_1', '{"kept":1}']]))).toEqual(expected);
  });

  test('without an answer says why', async () => {
    expect(await encode(undefined, new Map(), FAILURE)).toMatchObject({ error: FAILURE });
  });
});
