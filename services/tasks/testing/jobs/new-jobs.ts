import { create } from '@bufbuild/protobuf';
import { JobAnswerSchema, JobCallSchema, JobEncoding, JobHeaderSchema } from '@reelgate/proto/tasks/v1/job';
import type { JobAnswer, JobCall, JobHeader } from '@reelgate/proto/tasks/v1/job';
import { JOBS_TOTAL_SCOPE, jobTokenScope } from '../../src/domain/in-flight-scope.ts';
import type { NewJob } from '../../src/store/job-store.ts';

export const AT = 1_000_000;

export function aCall(changes: Partial<JobCall> = {}): JobCall {
  const call = create(JobCallSchema, {
    endpoint: 'chat',
    model: 'some-model',
    method: 'POST',
    path: '/v1/chat/completions',
    query: '',
    headers: [aHeader('content-type', 'application/json')],
    body: { case: 'inline', value: new TextEncoder().encode('{"model":"some-model"}') },
  });
  return { ...call, ...changes };
}

export function aHeader(name: string, value: string): JobHeader {
  return create(JobHeaderSchema, { name, value });
}

export function anAnswer(changes: Partial<JobAnswer> = {}): JobAnswer {
  const answer = create(JobAnswerSchema, {
    statusCode: 200,
    contentType: 'application/json',
    encoding: JobEncoding.JSON,
    size: 11n,
    body: { case: 'inline', value: new TextEncoder().encode('{"ok":true}') },
  });
  return { ...answer, ...changes };
}

/** A job before it is written. */
export function aNewJob(id: string, changes: Partial<NewJob> = {}): NewJob {
  const tokenId = changes.tokenId ?? 'token_1';
  return {
    id,
    accountId: 'acme',
    tokenId,
    visibleModels: ['*'],
    requestId: 'req_1',
    repeatable: false,
    createdAt: AT,
    idempotency: undefined,
    call: aCall(),
    caps: [
      { scope: jobTokenScope(tokenId), limit: 20 },
      { scope: JOBS_TOTAL_SCOPE, limit: 1000 },
    ],
    ...changes,
  };
}
