import type { JobRecord } from '@reelgate/proto/tasks/v1/operator_service';
import { emptyToUndefined, stateName } from './task-record.ts';
import { isoTime } from './times.ts';

/** A job without the bytes of its request and its answer. */
export function toJobJson(record: JobRecord | undefined): object {
  if (record?.job === undefined) return {};
  const { job, tokenId, endpoint, model, starts, events, requestId, traceId } = record;
  return {
    id: job.id,
    account: job.accountId,
    token: tokenId,
    request_id: emptyToUndefined(requestId),
    trace_id: emptyToUndefined(traceId),
    endpoint,
    model,
    state: stateName(job.state) || undefined,
    starts,
    created_at: isoTime(job.createdAt),
    completed_at: isoTime(job.completedAt),
    status_code: job.answer?.statusCode,
    bytes: job.answer === undefined ? undefined : Number(job.answer.size),
    error: job.failure === undefined ? undefined : { code: job.failure.code, message: job.failure.message },
    ...(events.length === 0
      ? {}
      : {
          events: events.map(({ at, type, detailJson }) => ({
            ...(JSON.parse(detailJson) as object),
            at: isoTime(at),
            type,
          })),
        }),
  };
}
