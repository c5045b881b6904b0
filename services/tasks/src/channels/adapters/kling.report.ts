import type { Json, Report } from '@reelgate/adapter-kit';
import {
  CONTENT_REJECTED,
  readCount,
  readList,
  readObject,
  readReport,
  readText,
  toFailure,
  toMicroUsd,
  toUsage,
  withEndTime,
} from '@reelgate/adapter-kit/kit';
import type { Reports } from '@reelgate/adapter-kit/kit';

/** The words of the reference for a failure of the content. A failure has a free text and no code. */
const RISK_CONTROL = /risk control/i;

const REPORTS: Reports = {
  submitted: (_task, status) => ({ phase: 'queued', status }),
  processing: (_task, status) => ({ phase: 'running', status }),
  succeeded: toSuccessReport,
  // The word of the old API, which gateways keep.
  succeed: toSuccessReport,
  failed: (task, status) => {
    const isOfContent = RISK_CONTROL.test(readText(task['message']) ?? '');
    return toFailure(status, isOfContent ? CONTENT_REJECTED.code : undefined, task['message']);
  },
};

function toSuccessReport(task: Json, status: string): Report {
  const video = readList(task['outputs'])
    .map(readObject)
    .find(({ type }) => type === 'video');
  return {
    phase: 'succeeded',
    status,
    url: readText(video?.['url']),
    usage: toUsage({ outputSeconds: readWholeSeconds(video?.['duration']) }),
    costMicroUsd: readCost(task['billing']),
  };
}

/** The report of a task. Its last change is its end if it has ended. */
export function toReport(task: Json, status: string): Report {
  return withEndTime(readReport(REPORTS, task, status), readCount(task['update_time']));
}

/** The API writes seconds as a text. */
function readWholeSeconds(text: unknown): number | undefined {
  return readCount(typeof text === 'string' && /^\d{1,6}(\.0+)?$/.test(text) ? Number(text) : text);
}

/** A charge is in units of a resource pack, which have no price here, or in cash of one of two currencies. */
function readCost(billing: unknown): number | undefined {
  const amounts = readList(billing)
    .map(readObject)
    .map(({ currency, amount }) => (currency === 'USD' ? toMicroUsd(amount) : undefined));
  return amounts.length === 0
    ? undefined
    : amounts.reduce((sum, one) => (sum === undefined || one === undefined ? undefined : sum + one), 0);
}
