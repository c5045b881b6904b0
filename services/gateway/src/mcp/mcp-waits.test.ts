import http from 'node:http';
import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { TaskChangedSchema } from '@reelgate/proto/tasks/v1/task_events';
import { until } from '@reelgate/platform/testing/until';
import { TASK_ID, aCompletedTask, aTask } from '../../testing/a-task.ts';
import { TOKEN } from '../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';
import { LINES, connectAgent } from '../../testing/mcp-agents.ts';
import type { Agent, Line } from '../../testing/mcp-agents.ts';

let under: GatewayUnderTest;
const agents: Agent[] = [];
beforeEach(async () => {
  under = await startGatewayUnderTest();
  change(aTask());
});
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.close()));
  await under.stop();
});

const connect = async (line: Line): Promise<Agent> => {
  const agent = await connectAgent(line, under.url);
  agents.push(agent);
  return agent;
};
/** As the tasks service reports it. */
function change(task: Task): void {
  under.tasks.tasks.set(`demo/${task.id}`, task);
  under.bus.announce(
    TaskChangedSchema,
    create(TaskChangedSchema, { taskId: task.id, accountId: 'demo', state: task.state }),
  );
}
const countWaits = async (): Promise<number> => {
  const { text } = await call(under.url, 'GET', '/metrics', { token: null });
  return Number(/^reelgate_gateway_waiting_reads (\d+)$/m.exec(text)?.[1]);
};
const untilWaiting = (count: number): Promise<void> => until(async () => (await countWaits()) === count);

describe.each(LINES)('a wait of an agent with the client %s', (line) => {
  test('ends with the video, and not when its work begins', async () => {
    const agent = await connect(line);
    const waiting = agent.call('video_wait', { id: TASK_ID, seconds: 50 });
    await untilWaiting(1);
    change(aTask({ state: TaskState.IN_PROGRESS }));
    change(aCompletedTask());

    expect((await waiting).structuredContent).toMatchObject({ status: 'completed', done: true });
    expect(await countWaits()).toBe(0);
  });
  test('ends when its time is over, which is no error', async () => {
    const agent = await connect(line);
    const waiting = agent.call('video_wait', { id: TASK_ID, seconds: 2 });
    await untilWaiting(1);
    await under.clock.advance(2000);
    const { isError, structuredContent } = await waiting;

    expect([isError, structuredContent.done]).toEqual([undefined, false]);
  });
  test('ends by itself before the hastiest client gives up, and says what to call next', async () => {
    const agent = await connect(line);
    const waiting = agent.call('video_wait', { id: TASK_ID });
    await untilWaiting(1);
    await under.clock.advance(4000);
    const { structuredContent, content } = await waiting;

    expect(structuredContent).toMatchObject({ done: false, next_call: 'video_wait' });
    expect(content[1]?.text).toContain('Call video_wait with this id');
  });
  test('may take longer for an agent that asks for progress', async () => {
    const agent = await connect(line);
    const shown: number[] = [];
    const waiting = agent.call(
      'video_wait',
      { id: TASK_ID },
      { onprogress: ({ progress }) => void shown.push(progress) },
    );
    await untilWaiting(1);
    for (let second = 0; second < 20; second += 5) await under.clock.advance(5000);
    expect(await countWaits()).toBe(1);
    await under.clock.advance(5000);

    expect((await waiting).structuredContent.done).toBe(false);
    expect(shown).toEqual([0]);
  });
  test('shows each new percentage once, to an agent that asks for it', async () => {
    const agent = await connect(line);
    const shown: number[] = [];
    const waiting = agent.call(
      'video_wait',
      { id: TASK_ID, seconds: 50 },
      { onprogress: ({ progress }) => void shown.push(progress) },
    );
    await untilWaiting(1);
    await until(() => shown.length === 1);
    for (const progress of [40, 40, 70]) {
      change(aTask({ progress }));
      await under.clock.advance(5000);
    }
    await until(() => shown.length === 3);
    change(aCompletedTask());

    expect((await waiting).structuredContent.done).toBe(true);
    expect(shown).toEqual([0, 40, 70]);
  });
  test('ends when the gateway stops, with what there is', async () => {
    const agent = await connect(line);
    const waiting = agent.call('video_wait', { id: TASK_ID, seconds: 50 });
    await untilWaiting(1);
    await under.gateway.stop();

    expect((await waiting).structuredContent).toMatchObject({ status: 'queued', done: false });
  });
  test('ends when the client closes', async () => {
    const agent = await connect(line);
    const lost = agent.call('video_wait', { id: TASK_ID, seconds: 50 }).catch(() => 'lost');
    await untilWaiting(1);
    await agent.close();

    expect(await lost).toBe('lost');
    await untilWaiting(0);
  });
});

test.each([false, true])(
  'a cancelled call of the new revision ends its wait, with progress: %s',
  async (withProgress) => {
    const agent = await connect('2.x');
    const cancel = new AbortController();
    const cancelled = agent
      .call(
        'video_wait',
        { id: TASK_ID, seconds: 50 },
        { signal: cancel.signal, ...(withProgress && { onprogress: () => undefined }) },
      )
      .catch(() => 'cancelled');
    await untilWaiting(1);
    cancel.abort();

    expect(await cancelled).toBe('cancelled');
    await untilWaiting(0);
  },
);

test('a client that breaks off leaves no wait, and its request is counted as gone', async () => {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'video_wait', arguments: { id: TASK_ID, seconds: 50 } },
  });
  const request = http.request(`${under.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
  });
  request.on('error', () => undefined);
  request.end(body);
  await untilWaiting(1);
  request.destroy();

  await untilWaiting(0);
  await until(async () =>
    (await call(under.url, 'GET', '/metrics', { token: null })).text.includes(
      'route="/mcp",kind="stream",method="POST",status="499"} 1',
    ),
  );
});
