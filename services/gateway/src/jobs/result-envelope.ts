import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { JobEncoding } from '@reelgate/proto/tasks/v1/job';
import type { Job } from '@reelgate/proto/tasks/v1/job';
import type { ByteReader } from '../clients/media-port.ts';
import { TASK_STATES, TASK_STATE_WORDS } from '../clients/task-words.ts';
import { newAnswer, objectSchema } from '../domain/schema.ts';
import type { Draft, TypeOf } from '../domain/schema.ts';
import { dropUndefined } from '../dialects/wire/task-fields.ts';
import { openBytes } from './job-bytes.ts';

/** Base64 encodes three bytes at a time. */
const GROUP = 3;

const envelopeSchema = {
  title: 'AsyncResult',
  ...objectSchema(
    {
      id: { type: 'string' },
      status: { enum: TASK_STATES },
      status_code: { type: 'integer', description: 'The status that the synchronous route answered with.' },
      content_type: { type: 'string', description: 'The content type of the result.' },
      result: { description: 'The body of the answer: a JSON value, a string if it is text, otherwise base64.' },
      encoding: { const: 'base64', description: 'Present only if the result is base64.' },
      error: {
        type: 'object',
        description: 'Why the call failed.',
        required: ['code', 'message'],
        additionalProperties: false,
        properties: { code: { type: 'string' }, message: { type: 'string' } },
      },
    },
    ['status_code', 'content_type', 'result', 'encoding', 'error'],
  ),
} as const;

type Envelope = TypeOf<typeof envelopeSchema>;

/** The answer without the result and its encoding, which follow as a stream. */
export const RESULT_ANSWER = newAnswer(envelopeSchema, encodeHead);

function encodeHead({ id, state, answer, failure }: Job): Envelope {
  return dropUndefined({
    id,
    status: TASK_STATE_WORDS[state] ?? 'in_progress',
    status_code: answer?.statusCode,
    content_type: answer?.contentType,
    error: failure && { code: failure.code, message: failure.message },
  } satisfies Draft<Envelope>);
}

/**
 * Encodes a job as its owner reads it. The result is a stream, so that a long answer is never held whole. Returns
 * undefined if the answer is no longer kept.
 */
export async function resultEnvelope(media: ByteReader, job: Job): Promise<Readable | undefined> {
  const text = JSON.stringify(RESULT_ANSWER.encode(job));
  const { answer } = job;
  if (answer === undefined || answer.encoding === JobEncoding.UNSPECIFIED)
    return Readable.from([text], { objectMode: false });
  const bytes = await openBytes(media, answer.body);
  return bytes === undefined ? undefined : Readable.from(envelope(text, answer.encoding, bytes), { objectMode: false });
}

async function* envelope(
  head: string,
  encoding: JobEncoding,
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<string | Buffer> {
  const isBase64 = encoding !== JobEncoding.JSON && encoding !== JobEncoding.TEXT;
  yield `${head.slice(0, -1)},${isBase64 ? '"encoding":"base64",' : ''}"result":`;
  yield* encodeResult(encoding, bytes);
  yield '}';
}

/** Encodes the bytes of an answer as JSON. */
export function encodeResult(encoding: JobEncoding, bytes: AsyncIterable<Buffer>): AsyncIterable<string | Buffer> {
  if (encoding === JobEncoding.UNSPECIFIED) return Readable.from(['null']);
  // the bytes are JSON: `chooseEncoding` checked them before they were stored
  if (encoding === JobEncoding.JSON) return bytes;
  return encoding === JobEncoding.TEXT ? encodeText(bytes) : encodeBase64(bytes);
}

async function* encodeText(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  yield '"';
  for await (const chunk of bytes) yield JSON.stringify(decoder.write(chunk)).slice(1, -1);
  yield `${JSON.stringify(decoder.end()).slice(1, -1)}"`;
}

async function* encodeBase64(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  yield '"';
  for await (const chunk of bytes) {
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = all.length - (all.length % GROUP);
    yield all.toString('base64', 0, whole);
    rest = all.subarray(whole);
  }
  yield `${rest.toString('base64')}"`;
}
