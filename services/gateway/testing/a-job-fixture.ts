import { silentLog } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { NO_TRACING } from '@reelgate/platform/trace/trace';
import type { DueJob, RunJobDeps } from '../src/jobs/run-job.ts';
import type { CallSink } from '../src/relay/answers/call-sink.ts';
import type { AnswerEnd, Relay } from '../src/relay/relay.ts';
import { fakeJobs } from './fake-jobs.ts';
import type { FakeJobs } from './fake-jobs.ts';
import { fakeMedia } from './fake-services.ts';
import type { FakeMedia } from './fake-services.ts';

const WHOLE: AnswerEnd = { status: 200, how: 'whole', usage: undefined };

/** What the upstream does with a call that reaches it. */
export type Upstream = (sink: CallSink, gone: AbortSignal) => Promise<AnswerEnd>;

export const answers =
  (status: number, body: string | Buffer, type = 'application/json'): Upstream =>
  async (sink) => {
    sink.begin(status, { 'content-type': type });
    sink.end(Buffer.from(body), {});
    return { ...WHOLE, status };
  };

/** A relay with an upstream that the test scripts. It counts calls to the upstream and released holds. */
export interface FakeRelay {
  readonly relay: Relay;
  upstream: Upstream;
  /** Thrown by each hold, while it is set. */
  holdRefusal: Problem | undefined;
  reached: number;
  readonly released: string[];
}

function fakeRelay(): FakeRelay {
  const released: string[] = [];
  const hold = (): void => {
    if (fake.holdRefusal !== undefined) throw fake.holdRefusal;
  };
  const fake: FakeRelay = {
    upstream: answers(200, '{"ok":true}'),
    holdRefusal: undefined,
    reached: 0,
    released,
    relay: {
      assertServed: () => undefined,
      hold: async () => {
        hold();
      },
      release: (callId) => void released.push(callId),
      call: async (_call, sink, gone, job) => {
        hold();
        await job?.recordStart();
        fake.reached += 1;
        return fake.upstream(sink, gone);
      },
    },
  };
  return fake;
}

export const refuses =
  (kind: Problem['kind'], reason: string, retryAfterMs?: number): Upstream =>
  async () => {
    throw new Problem({
      kind,
      reason,
      message: `because of ${reason}`,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  };

export interface JobFixture {
  readonly tasks: FakeJobs;
  readonly media: FakeMedia;
  readonly relay: FakeRelay;
  readonly clock: FakeClock;
  readonly deps: RunJobDeps;
  /** Queues a chat call. */
  queue(body?: Buffer): Promise<void>;
  /** Queues a chat call and leases it. */
  leased(body?: Buffer): Promise<DueJob>;
}

export function aJobFixture(): JobFixture {
  const [tasks, media, relay, clock] = [fakeJobs(), fakeMedia(), fakeRelay(), fakeClock()];
  const jobs = tasks.client;
  const queue = async (body: Buffer = Buffer.from('{"model":"some-model"}')): Promise<void> => {
    await jobs.createJob(
      {
        accountId: 'demo',
        tokenId: 'token_1',
        call: {
          endpoint: 'chat',
          model: 'some-model',
          method: 'POST',
          path: '/v1/chat/completions',
          query: 'a=1',
          headers: [{ name: 'Content-Type', value: 'application/json' }],
          body: { case: 'inline', value: body },
        },
      },
      { requestId: 'req_1' },
    );
  };
  return {
    tasks,
    media,
    relay,
    clock,
    deps: {
      jobs,
      media: media.port,
      relay: relay.relay,
      clock,
      log: silentLog,
      tracing: NO_TRACING,
      bytesMax: 1_000_000,
    },
    queue,
    leased: async (body) => {
      await queue(body);
      const { jobs: leased } = await jobs.leaseJobs({ worker: 'gateway', limit: 1 });
      return leased[0] as DueJob;
    },
  };
}
