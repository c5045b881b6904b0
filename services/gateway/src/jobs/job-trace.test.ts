import { expect, test } from '@jest/globals';
import { keepingTracing } from '@reelgate/platform/testing/keeping-tracing';
import { aJobFixture, answers } from '../../testing/a-job-fixture.ts';
import { runJob } from './run-job.ts';

const never = (): AbortSignal => new AbortController().signal;
const options = { signal: never(), stopping: never(), keepMs: 1000 };

test('a run of a job goes below the carrier of the job, with its call and its outcome', async () => {
  const [kept, world] = [keepingTracing(), aJobFixture()];
  const root = kept.tracing.root('create', { class: 'create' });
  const carriers: (string | undefined)[] = [];
  const relay: typeof world.relay.relay = {
    ...world.relay.relay,
    call: (call, ...rest) => {
      carriers.push(call.span?.carrier);
      return world.relay.relay.call(call, ...rest);
    },
  };
  world.relay.upstream = answers(200, '{}');
  const job = { ...(await world.leased()), trace: root.carrier ?? '' };

  await runJob({ ...world.deps, relay, tracing: kept.tracing }, job, options);

  const spans = kept.spans();
  const run = spans.find(({ name }) => name === 'run job');
  expect(run).toMatchObject({ kind: 'consumer', traceId: root.traceId, parentSpanId: root.carrier?.split('-')[2] });
  expect(run!.attributes).toEqual({
    'reelgate.task.id': job.lease.jobId,
    'reelgate.endpoint': 'chat',
    'reelgate.outcome': 'answered',
  });
  expect(carriers).toEqual([`00-${run!.traceId}-${run!.spanId}-01`]);
  expect(spans.filter(({ parentSpanId }) => parentSpanId === run!.spanId).map(({ name }) => name)).toEqual([
    'reelgate.tasks.v1.JobService/MarkJobStarted',
    'reelgate.tasks.v1.JobService/FinishJob',
  ]);
});

test('a job that is not recorded leaves no span', async () => {
  const [kept, world] = [keepingTracing(), aJobFixture()];

  await runJob({ ...world.deps, tracing: kept.tracing }, await world.leased(), options);

  expect(kept.spans()).toEqual([]);
});
