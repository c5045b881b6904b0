import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { once } from 'node:events';
import path from 'node:path';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connectGrpc } from '@reelgate/platform/rpc/grpc-client';
import type { GrpcConnection } from '@reelgate/platform/rpc/grpc-client';
import { Secret } from '@reelgate/platform/secret';
import { refusalOf } from '@reelgate/platform/testing/refusals';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { ContentFacts, GetTaskContentResponse } from '@reelgate/proto/tasks/v1/task_service';
import { renderInWorker } from '../../deploy/local/sandbox/render/in-worker.ts';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { openCuttableLine } from '../harness/cuttable-line.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { KEYS, UPSTREAM_KEY, callerKey } from '../harness/test-config.ts';

const MIB = 1024 ** 2;
const TIMEOUT_MS = 120_000;
const CLIP = path.join(import.meta.dirname, '../../services/media/testing/fixtures/768p.mp4');
const LARGE_BYTES = 64 * MIB;
const STALLED = 8;
/** Without back-pressure each stalled reader would hold the large video: a gibibyte in all. */
const GROWTH_BYTES_MAX = 200 * MIB;

/** A clip with a free box behind it, which players skip. Its bytes differ, so that a wrong offset shows. */
function largeVideo(): Buffer {
  const clip = readFileSync(CLIP);
  const rest = Buffer.alloc(LARGE_BYTES - clip.byteLength);
  for (let at = 8; at < rest.byteLength; at += 1024) rest.writeUInt32BE(at, Math.min(at, rest.byteLength - 4));
  rest.writeUInt32BE(rest.byteLength, 0);
  rest.write('free', 4, 'latin1');
  return Buffer.concat([clip, rest]);
}

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

async function received(messages: AsyncIterable<GetTaskContentResponse>) {
  let facts: ContentFacts | undefined;
  const pieces: Uint8Array[] = [];
  for await (const { part } of messages) {
    if (part.case === 'facts') facts = part.value;
    else if (part.case === 'data') pieces.push(part.value);
  }
  return { facts, bytes: Buffer.concat(pieces) };
}

function residentBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1];
    return sum + Number(kib) * 1024;
  }, 0);
}

/** The bytes of results over gRPC and Connect, in whichever shape the program runs. */
export function contentSuite(shape: Shape, { bus }: { readonly bus?: () => string } = {}): void {
  let sandbox: Sandbox;
  let program: Program;
  let connection: GrpcConnection;
  const made = new Map<string, Uint8Array>();

  beforeAll(async () => {
    sandbox = await startSandbox({
      listen: '127.0.0.1:0',
      key: UPSTREAM_KEY,
      render: async (order, stopped) => {
        const bytes = order.prompt === 'large' ? largeVideo() : await renderInWorker(order, stopped);
        made.set(order.prompt, bytes);
        return bytes;
      },
    });
    program = await newProgram(shape, { upstream: new URL(sandbox.url).host, bus: bus?.() });
    await program.start();
    connection = connectGrpc(program.config.tasks.listen, new Secret(callerKey('pipeline')));
  }, TIMEOUT_MS);
  afterAll(async () => {
    connection?.close();
    await program?.end();
    await sandbox?.stop();
  }, TIMEOUT_MS);

  const tasks = () => connection.client(TaskService);
  const overConnect = (useBinaryFormat: boolean) =>
    createClient(
      TaskService,
      createConnectTransport({
        baseUrl: `http://${program.config.tasks.http}`,
        httpVersion: '1.1',
        useBinaryFormat,
        interceptors: [
          (next) => (request) => {
            request.header.set('authorization', `Bearer ${callerKey('pipeline')}`);
            return next(request);
          },
        ],
      }),
    );

  const known = new Map<string, string>();
  /** The id of a completed task with this prompt. */
  async function completed(prompt: string): Promise<string> {
    const earlier = known.get(prompt);
    if (earlier !== undefined) return earlier;
    const listed = (await program.command('token', 'list', '--account', 'demo')).json as { token_id: string }[];
    const { task } = await tasks().createTask({
      accountId: 'demo',
      tokenId: listed[0]!.token_id,
      order: {
        kind: TaskKind.GENERATION,
        model: 'Alpha-H3',
        content: [{ item: { case: 'text', value: prompt } }],
        duration: 4,
        resolution: '768P',
        ratio: '16:9',
      },
    });
    const over = performance.now() + TIMEOUT_MS;
    for (;;) {
      const { task: now } = await tasks().getTask({ accountId: 'demo', taskId: task!.id });
      if (now?.state === TaskState.COMPLETED) break;
      if (now?.state === TaskState.FAILED || performance.now() > over) throw new Error(program.output());
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    known.set(prompt, task!.id);
    return task!.id;
  }

  test(
    'a video of the sandbox arrives byte for byte over gRPC, Connect and the public route',
    async () => {
      const taskId = await completed('a red boat');
      const original = Buffer.from(made.get('a red boat')!);
      const request = { accountId: 'demo', taskId };

      const byGrpc = await received(tasks().getTaskContent(request));
      const byConnect = await received(overConnect(true).getTaskContent(request));
      const byJson = await received(overConnect(false).getTaskContent(request));
      const byHttp = await fetch(`${program.base}/v1/videos/${taskId}/content`, {
        headers: { authorization: `Bearer ${KEYS.demo}` },
      });

      for (const { facts, bytes } of [byGrpc, byConnect, byJson]) {
        expect(bytes.equals(original)).toBe(true);
        expect(facts).toMatchObject({
          mediaType: 'video/mp4',
          bytes: BigInt(original.byteLength),
          sha256: digest(original),
          fileName: `${taskId}.mp4`,
        });
      }
      expect(Buffer.from(await byHttp.arrayBuffer()).equals(original)).toBe(true);
    },
    TIMEOUT_MS,
  );

  test(
    'a stream whose connection is cut goes on at its offset, and the whole has the digest of the facts',
    async () => {
      const taskId = await completed('large');
      const line = await openCuttableLine(`http://${program.config.tasks.listen}`);
      const cuttable = connectGrpc(new URL(line.url).host, new Secret(callerKey('pipeline')));
      const client = cuttable.client(TaskService);
      const copy = { facts: undefined as ContentFacts | undefined, hash: createHash('sha256'), offset: 0n };
      /** Goes on where the copy ends, until the stream does. */
      const goOn = async (cutAfter: bigint): Promise<void> => {
        const cutAt = copy.offset + cutAfter;
        for await (const { part } of client.getTaskContent({ accountId: 'demo', taskId, offset: copy.offset })) {
          if (part.case === 'facts') copy.facts = part.value;
          if (part.case !== 'data') continue;
          copy.hash.update(part.value);
          copy.offset += BigInt(part.value.byteLength);
          if (copy.offset > cutAt) line.cut();
        }
      };
      for (let cuts = 0; cuts < 3; cuts += 1) {
        expect(await refusalOf(goOn(15_000_000n))).toMatchObject({ kind: 'unavailable' });
        line.mend();
      }
      await goOn(BigInt(LARGE_BYTES));
      cuttable.close();
      await line.stop();

      expect(copy.hash.digest('hex')).toBe(copy.facts?.sha256);
      expect(copy.facts?.sha256).toBe(digest(made.get('large')!));
    },
    TIMEOUT_MS,
  );

  test(
    'readers that take nothing hold no memory, over gRPC and Connect',
    async () => {
      const taskId = await completed('large');
      // what the processes allocate once, at their first stream
      await received(tasks().getTaskContent({ accountId: 'demo', taskId }));
      const before = residentBytes(program.pids());
      const stalled = await Promise.all(
        Array.from({ length: STALLED }, async () => {
          const messages = tasks().getTaskContent({ accountId: 'demo', taskId })[Symbol.asyncIterator]();
          await messages.next();
          return () => messages.return?.();
        }),
      );
      const sockets = await Promise.all(Array.from({ length: STALLED }, () => stalledSocket(taskId)));
      await received(tasks().getTaskContent({ accountId: 'demo', taskId }));
      const growth = residentBytes(program.pids()) - before;
      process.stdout.write(
        `${shape}: ${String(2 * STALLED)} stalled readers, ${String(Math.round(growth / MIB))} MiB\n`,
      );

      expect(growth).toBeLessThan(GROWTH_BYTES_MAX);
      for (const leave of stalled) await leave();
      for (const socket of sockets) socket.destroy();
    },
    TIMEOUT_MS,
  );

  async function stalledSocket(taskId: string): Promise<http.IncomingMessage> {
    const message = Buffer.from(JSON.stringify({ accountId: 'demo', taskId }));
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.byteLength, 1);
    const request = http.request(`http://${program.config.tasks.http}/reelgate.tasks.v1.TaskService/GetTaskContent`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/connect+json', authorization: `Bearer ${callerKey('pipeline')}` },
    });
    request.end(Buffer.concat([head, message]));
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    return response;
  }

  describe('a link of CreateContentLink', () => {
    test(
      'gives the video to a client without a key, and names nothing of the upstream',
      async () => {
        const taskId = await completed('a red boat');
        const original = Buffer.from(made.get('a red boat')!);

        const { url } = await tasks().createContentLink({ accountId: 'demo', taskId, lifetime: { seconds: 60n } });
        const whole = await fetch(url);
        const part = await fetch(url, { headers: { range: 'bytes=10-19' } });

        expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'video/mp4']);
        expect(Buffer.from(await whole.arrayBuffer()).equals(original)).toBe(true);
        expect(Buffer.from(await part.arrayBuffer()).equals(original.subarray(10, 20))).toBe(true);
        expect(url).not.toContain(new URL(sandbox.url).host);
        expect((await fetch(url.replace(/exp=\d/, 'exp=9'))).status).toBe(403);
      },
      TIMEOUT_MS,
    );

    test('is given for no task of another account', async () => {
      const taskId = await completed('a red boat');

      expect(await refusalOf(tasks().createContentLink({ accountId: 'other', taskId }))).toMatchObject({
        reason: 'account_not_allowed',
        field: 'account_id',
      });
    });
  });
}
