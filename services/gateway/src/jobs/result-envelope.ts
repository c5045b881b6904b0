import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Job, JobAnswer, JobEncoding } from '../clients/jobs-client.ts';
import type { ByteReader } from '../clients/media-port.ts';
import { TASK_STATES } from '../clients/plain-task.ts';
import { newAnswer, objectSchema } from '../domain/schema.ts';
import type { Draft, TypeOf } from '../domain/schema.ts';
import { dropUndefined } from '../dialects/wire/task-fields.ts';

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
    status: state,
    status_code: answer?.statusCode,
    content_type: answer?.contentType,
    error: failure,
  } satisfies Draft<Envelope>);
}

/**
 * Encodes a job as its owner reads it. The result is a stream, so that a long answer is never held whole. Returns
 * undefined if the answer is no longer kept.
 */
export async function resultEnvelope(media: ByteReader, job: Job): Promise<Readable | undefined> {
  const text = JSON.stringify(RESULT_ANSWER.encode(job));
  const { answer } = job;
  if (answer === undefined || answer.encoding === 'none') return Readable.from([text], { objectMode: false });
  const bytes = await openAnswer(media, answer);
  return bytes === undefined ? undefined : Readable.from(envelope(text, answer.encoding, bytes), { objectMode: false });
}

/** Opens the bytes of an answer; undefined: they are no longer kept. */
export async function openAnswer(media: ByteReader, { body }: JobAnswer): Promise<AsyncIterable<Buffer> | undefined> {
  return 'inline' in body ? Readable.from([Buffer.from(body.inline)]) : media.read(body.object);
}

async function* envelope(
  head: string,
  encoding: JobEncoding,
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<string | Buffer> {
  yield `${head.slice(0, -1)},${encoding === 'base64' ? '"encoding":"base64",' : ''}"result":`;
  yield* encodeResult(encoding, bytes);
  yield '}';
}

/** The bytes of an answer as JSON. */
export function encodeResult(encoding: JobEncoding, bytes: AsyncIterable<Buffer>): AsyncIterable<string | Buffer> {
  return RESULTS[encoding](bytes);
}

const RESULTS: Readonly<Record<JobEncoding, (bytes: AsyncIterable<Buffer>) => AsyncIterable<string | Buffer>>> = {
  none: () => Readable.from(['null']),
  // the bytes are JSON: `read-answer` checked them before they were stored
  json: (bytes) => bytes,
  async *text(bytes) {
    const decoder = new StringDecoder('utf8');
    yield '"';
    for await (const chunk of bytes) yield JSON.stringify(decoder.write(chunk)).slice(1, -1);
    yield `${JSON.stringify(decoder.end()).slice(1, -1)}"`;
  },
  async *base64(bytes) {
    let rest: Buffer = Buffer.alloc(0);
    yield '"';
    for await (const chunk of bytes) {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const whole = all.length - (all.length % GROUP);
      yield all.toString('base64', 0, whole);
      rest = all.subarray(whole);
    }
    yield `${rest.toString('base64')}"`;
  },
};
