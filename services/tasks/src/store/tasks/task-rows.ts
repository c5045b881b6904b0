import type { Doubt, Mapping, Task, TaskOrigin } from '../../domain/task.ts';
import {
  inColumns,
  inFlag,
  inJson,
  inNumber,
  inOptionalJson,
  inOptionalNumber,
  inOptionalText,
  inText,
  recordColumns,
} from '../columns.ts';
import type { Fields } from '../columns.ts';

/** The condition for tasks that an upstream has or may have. The condition of an index has the same text. */
export const ADMITTED = "admission IN ('accepted', 'unknown')";

/** The condition for tasks that the owner may see. */
export const VISIBLE = `${ADMITTED} AND deleted_at IS NULL`;

export const UNFINISHED = "state IN ('queued', 'in_progress')";

const ORIGIN_FIELDS: Fields<TaskOrigin> = {
  id: inText('id'),
  accountId: inText('account_id'),
  tokenId: inText('token_id'),
  order: inJson('order_json'),
  seconds: inNumber('seconds'),
  createdAt: inNumber('created_at'),
  requestId: inOptionalText('request_id'),
  trace: inOptionalText('trace'),
  traceParent: inOptionalText('trace_parent'),
};

/** What a create writes of a task. */
export const ORIGIN = recordColumns(ORIGIN_FIELDS);

const DOUBT = recordColumns<Doubt>({ reason: inText('doubt'), polls: inNumber('doubt_looks') });
const MAPPING = recordColumns<Mapping>({
  channel: inText('channel'),
  upstreamAccount: inText('upstream_account'),
  upstreamId: inOptionalText('upstream_id'),
});

/** The columns of a task, by its members. */
export const TASK = recordColumns<Task>({
  ...ORIGIN_FIELDS,
  admission: inText('admission'),
  state: inText('state'),
  upstreamStatus: inOptionalText('upstream_status'),
  unrecognised: inFlag('unrecognised'),
  progress: inNumber('progress'),
  updatedAt: inNumber('updated_at'),
  finishedAt: inOptionalNumber('finished_at'),
  expiresAt: inOptionalNumber('expires_at'),
  // Before an upstream has the work, the channel alone is set.
  mapping: inColumns(MAPPING, 'upstream_account'),
  staged: inOptionalJson('staged_json'),
  result: inOptionalJson('result_json'),
  failure: inOptionalJson('failure_json'),
  usage: inOptionalJson('usage_json'),
  nextPollAt: inOptionalNumber('next_poll_at'),
  pollErrors: inNumber('poll_errors'),
  doubt: inColumns(DOUBT, 'doubt', { doubt: null, doubt_looks: 0 }),
  polls: inNumber('polls'),
  pollSpans: inNumber('poll_spans'),
  resumed: inFlag('resumed'),
});
