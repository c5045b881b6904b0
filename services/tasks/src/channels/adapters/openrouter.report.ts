import type { Json, Report } from '@reelgate/adapter-kit';
import {
  readList,
  readObject,
  readReport,
  readText,
  toContentFailure,
  toFailure,
  toMicroUsd,
} from '@reelgate/adapter-kit/kit';
import type { Reports } from '@reelgate/adapter-kit/kit';
import { CONTENT_WORDS } from './openrouter.errors.ts';

const REPORTS: Reports = {
  pending: (_job, status) => ({ phase: 'queued', status }),
  in_progress: (_job, status) => ({ phase: 'running', status }),
  completed: (job, status) => ({ phase: 'succeeded', status, url: readText(readList(job['unsigned_urls'])[0]) }),
  failed: toFailureReport,
  cancelled: toFailureReport,
  expired: toFailureReport,
};

/** Converts a job into a report. `contentPath`: where its video is if the job does not say it. */
export function toReport(job: Json, contentPath: string): Report {
  const report = readReport(REPORTS, job, String(job['status']));
  const costMicroUsd = readCost(readObject(job['usage']));
  if (report.phase === 'failed') return { ...report, costMicroUsd };
  return report.phase === 'succeeded'
    ? { ...report, url: report.url ?? contentPath, needsKey: true, costMicroUsd }
    : report;
}

/** With a provider's key of the customer the provider charges too, so the cost is not known. */
function readCost({ cost, is_byok: isByok }: Json): number | undefined {
  return isByok === true ? undefined : toMicroUsd(cost);
}

/** The error is a text without a code. */
function toFailureReport({ error }: Json, status: string): Report {
  return CONTENT_WORDS.test(readText(error) ?? '') ? toContentFailure(status) : toFailure(status, undefined, error);
}
