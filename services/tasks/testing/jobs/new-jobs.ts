import { JOBS_TOTAL_SCOPE, jobTokenScope } from '../../src/domain/in-flight-scope.ts';
import type { JobAnswer, JobCall } from '../../src/domain/job.ts';
import type { NewJob } from '../../src/store/job-store.ts';

export const AT = 1_000_000;

export function aCall(changes: Partial<JobCall> = {}): JobCall {
  return {
    endpoint: 'chat',
    model: 'some-model',
    method: 'POST',
    path: '/v1/chat/completions',
    query: '',
    headers: [['content-type', 'application/json']],
    body: { inline: Buffer.from('{"model":"some-model"}').toString('base64') },
    ...changes,
  };
}

export function anAnswer(changes: Partial<JobAnswer> = {}): JobAnswer {
  return {
    statusCode: 200,
    contentType: 'application/json',
    encoding: 'json',
    size: 11,
    body: { inline: Buffer.from('{"ok":true}').toString('base64') },
    ...changes,
  };
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
