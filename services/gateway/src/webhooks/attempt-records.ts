import { create } from '@bufbuild/protobuf';
import { newBatcher } from '@reelgate/platform/batcher';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { isProblem } from '@reelgate/platform/problem';
import { WebhookReceiverRecordSchema } from '@reelgate/proto/tasks/v1/webhook_service';
import type { WebhookReceiverRecord } from '@reelgate/proto/tasks/v1/webhook_service';

/** The most records that wait for one batch. */
const BATCH_MAX = 512;
/** The most receivers in one request. */
const RECEIVERS_MAX = 64;
/** No receiver waits for a record. After a crash, what is not recorded is sent again. */
const FILL_MS = 25;
const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5000;
const RETRY_FOR_MS = 30_000;

export interface AttemptRecordsOptions {
  /** Writes records. Returns the receivers whose lease had ended; their attempts are not written. */
  readonly record: (records: WebhookReceiverRecord[]) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The attempts of all receivers, on their way to the tasks service. */
export interface AttemptRecords {
  /** Resolves to whether it was written. Otherwise the lease had ended, or ends without it. */
  add(record: WebhookReceiverRecord): Promise<boolean>;
  /** From now on records are sent at once, and never again. */
  stop(): void;
}

/** One request at a time, in the order of the records: a lease is given back after its attempts are written. */
export function openAttemptRecords(options: AttemptRecordsOptions): AttemptRecords {
  const { clock } = options;
  const stopping = new AbortController();
  const batcher = newBatcher<WebhookReceiverRecord, boolean>({
    batchMax: BATCH_MAX,
    concurrency: 1,
    fill: () => clock.sleep(FILL_MS, stopping.signal),
    send: async (batch) => {
      const written = new Set<string>();
      for (const request of groupIntoRequests(batch))
        for (const key of await writeAll(request, { ...options, signal: stopping.signal })) written.add(key);
      return batch.map((record) => written.has(toLeaseKey(record)));
    },
  });
  return {
    add: (record) => batcher.add(record),
    stop: () => stopping.abort(),
  };
}

const toLeaseKey = ({ receiverId, lease }: WebhookReceiverRecord): string => `${lease} ${receiverId}`;

/** Joins the records of each lease. A request has one record for a receiver, and so never two of its leases. */
function groupIntoRequests(batch: readonly WebhookReceiverRecord[]): WebhookReceiverRecord[][] {
  const joined = Map.groupBy(batch, toLeaseKey)
    .values()
    .map((records) => joinRecords(records));
  const requests: Map<string, WebhookReceiverRecord>[] = [];
  for (const record of joined) {
    const last = requests.at(-1);
    if (last === undefined || last.size >= RECEIVERS_MAX || last.has(record.receiverId))
      requests.push(new Map([[record.receiverId, record]]));
    else last.set(record.receiverId, record);
  }
  return requests.map((request) => [...request.values()]);
}

function joinRecords(records: readonly WebhookReceiverRecord[]): WebhookReceiverRecord {
  const [first = create(WebhookReceiverRecordSchema)] = records;
  return {
    ...first,
    attempts: records.flatMap(({ attempts }) => attempts),
    returned: records.some(({ returned }) => returned),
  };
}

type WriteOptions = AttemptRecordsOptions & { readonly signal: AbortSignal };

/** Returns the keys of the records that are written. A refused request is split: one record refuses no other. */
async function writeAll(request: WebhookReceiverRecord[], options: WriteOptions): Promise<readonly string[]> {
  const result = await write(request, options);
  if (result === 'refused' && request.length > 1) {
    const written: string[] = [];
    for (const record of request) written.push(...(await writeAll([record], options)));
    return written;
  }
  if (typeof result === 'string') return [];
  const lost = new Set(result);
  return request.filter(({ receiverId }) => !lost.has(receiverId)).map(toLeaseKey);
}

/** Returns the receivers whose lease had ended. */
async function write(
  request: WebhookReceiverRecord[],
  { record, clock, log, signal }: WriteOptions,
): Promise<readonly string[] | 'refused' | 'given up'> {
  const until = clock.now() + RETRY_FOR_MS;
  for (let pause = RETRY_FIRST_MS; ; pause = Math.min(RETRY_MAX_MS, 2 * pause)) {
    try {
      return await record(request);
    } catch (error) {
      const isRefused = isProblem(error) && error.kind === 'invalid';
      if (isRefused || signal.aborted || clock.now() + pause >= until) {
        log.error({ receivers: request.length, err: error }, 'attempts of webhooks were not recorded');
        return isRefused ? 'refused' : 'given up';
      }
      log.warn({ receivers: request.length, err: error }, 'attempts of webhooks are recorded again');
      await clock.sleep(pause, signal);
    }
  }
}
