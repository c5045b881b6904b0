import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import { requireField } from '@reelgate/platform/rpc/rules';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import {
  JobAnswerSchema,
  JobCallSchema,
  JobFailureSchema,
  JobHeaderSchema,
  JobSchema,
  JobEncoding as WireEncoding,
} from '@reelgate/proto/tasks/v1/job';
import type {
  Job as WireJob,
  JobAnswer as WireAnswer,
  JobCall as WireCall,
  JobFailure as WireFailure,
} from '@reelgate/proto/tasks/v1/job';
import type { JobLease as WireLease } from '@reelgate/proto/tasks/v1/job_service';
import type { EveryMember } from '../domain/every-member.ts';
import type { Job, JobAnswer, JobBytes, JobCall, JobLease } from '../domain/job.ts';
import type { Failure } from '../domain/task.ts';
import { fromWireEnum } from './mapping-order.ts';
import { STATES } from './mapping-task.ts';
import { emptyToUndefined } from './request-fields.ts';

const ENCODINGS = { none: WireEncoding.UNSPECIFIED, ...deriveValues(WireEncoding) };
const ENCODING_WORDS = deriveWords(WireEncoding, 'none');

type WireBytes = WireCall['body'] | WireAnswer['body'];

export function fromWireCall(wire: WireCall | undefined): JobCall {
  const { endpoint, model, method, path, query, headers, body, label } = requireField(wire, 'call');
  return {
    endpoint,
    model,
    method,
    path,
    query,
    headers: headers.map((header) => [header.name, header.value] as const),
    body: fromWireBytes(body),
    label: emptyToUndefined(label),
  } satisfies EveryMember<JobCall>;
}

export function toWireCall({ endpoint, model, method, path, query, headers, body, label }: JobCall): WireCall {
  return toMessage(JobCallSchema, {
    endpoint,
    model,
    method,
    path,
    query,
    headers: headers.map(([name, value]) => toMessage(JobHeaderSchema, { name, value })),
    body: toWireBytes(body),
    label,
  });
}

export function fromWireAnswer(wire: WireAnswer | undefined): JobAnswer | undefined {
  if (wire === undefined) return undefined;
  const { statusCode, contentType, encoding, size, body } = wire;
  return {
    statusCode,
    contentType,
    encoding: fromWireEnum(ENCODING_WORDS, encoding),
    size: Number(size),
    body: fromWireBytes(body),
  } satisfies EveryMember<JobAnswer>;
}

function toWireAnswer({ statusCode, contentType, encoding, size, body }: JobAnswer): WireAnswer {
  return toMessage(JobAnswerSchema, {
    statusCode,
    contentType,
    encoding: ENCODINGS[encoding],
    size: BigInt(size),
    body: toWireBytes(body),
  });
}

export function fromWireFailure(wire: WireFailure | undefined): Failure | undefined {
  return wire && ({ code: wire.code, message: wire.message } satisfies EveryMember<Failure>);
}

/** The view of a job for its owner. */
export function toWireJob(job: Job): WireJob {
  const { id, accountId, state, createdAt, updatedAt, finishedAt, answer, failure } = job;
  return toMessage(JobSchema, {
    id,
    accountId,
    state: STATES[state],
    createdAt: timestampFromMs(createdAt),
    updatedAt: timestampFromMs(updatedAt),
    completedAt: toTimestamp(finishedAt),
    answer: answer && toWireAnswer(answer),
    failure: failure && toMessage(JobFailureSchema, { code: failure.code, message: failure.message }),
  });
}

/** The job as it was when it was created. */
export function toWireNewJob(job: Job): WireJob {
  return toWireJob({
    ...job,
    state: 'queued',
    updatedAt: job.createdAt,
    finishedAt: undefined,
    answer: undefined,
    failure: undefined,
  });
}

export function fromWireLease(wire: WireLease | undefined): JobLease {
  const { jobId, lease } = requireField(wire, 'lease');
  return { jobId, lease };
}

function fromWireBytes(body: WireBytes): JobBytes {
  if (body.case === 'object') return { object: body.value };
  const bytes = body.case === 'inline' ? body.value : new Uint8Array();
  return { inline: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64') };
}

function toWireBytes(body: JobBytes) {
  return 'object' in body
    ? { case: 'object' as const, value: body.object }
    : { case: 'inline' as const, value: Buffer.from(body.inline, 'base64') };
}
