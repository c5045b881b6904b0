import { create } from '@bufbuild/protobuf';
import { BatchLineInputSchema } from '@reelgate/proto/tasks/v1/batch';
import type { BatchLineInput } from '@reelgate/proto/tasks/v1/batch';
import type { Job } from '@reelgate/proto/tasks/v1/job';
import type { ByteReader } from '../clients/media-port.ts';
import { openBytes } from '../jobs/job-bytes.ts';
import { encodeResult } from '../jobs/result-envelope.ts';
import type { RelayEndpoint } from '../relay/endpoints.ts';
import { newFaultyLine } from './batch-endpoint.ts';
import type { BatchEndpoint, LineAnswer } from './batch-endpoint.ts';

const HEADERS = [{ name: 'content-type', value: 'application/json' }];
const DELETED = { code: 'task_deleted', message: 'the answer was deleted before the batch ended' };
const UNANSWERED = { code: 'internal_error', message: 'the call has no answer' };

/** The lines that call a relayed route. */
export function callEndpoint(endpoint: RelayEndpoint): BatchEndpoint {
  return {
    path: endpoint.path,
    decode: (body) => decodeCall(endpoint, body),
    encode: async (end, { media }) => {
      if (end.case !== 'job') throw new Error('the line of a call has a job');
      return encodeJob(end.value, media);
    },
  };
}

function decodeCall({ name, method, path, isRepeatable }: RelayEndpoint, body: object): BatchLineInput {
  const { model, stream } = body as { readonly model?: unknown; readonly stream?: unknown };
  if (stream === true) return newFaultyLine('invalid_request', 'stream', 'is not possible in a line of a batch');
  const call = {
    ...{ endpoint: name, method, path },
    // the line is checked: its model is a text
    model: String(model),
    headers: HEADERS,
    body: { case: 'inline' as const, value: Buffer.from(JSON.stringify(body)) },
  };
  return create(BatchLineInputSchema, { body: { case: 'call', value: { call, repeatable: isRepeatable } } });
}

async function encodeJob({ answer, failure }: Job, media: ByteReader): Promise<LineAnswer> {
  if (answer === undefined) return { error: failure ?? UNANSWERED };
  const bytes = await openBytes(media, answer.body);
  if (bytes === undefined) return { error: DELETED };
  return { statusCode: answer.statusCode, body: joinLines(encodeResult(answer.encoding, bytes)) };
}

/** A line of a file has no line breaks. Those of JSON stand between its words, never in a text. */
async function* joinLines(pieces: AsyncIterable<string | Buffer>): AsyncGenerator<string | Buffer> {
  for await (const piece of pieces)
    yield typeof piece === 'string' ? piece : Buffer.from(piece.toString('latin1').replace(/[\r\n]/g, ' '), 'latin1');
}
