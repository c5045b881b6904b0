import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connectGrpc } from '@reelgate/platform/rpc/grpc/client';
import type { GrpcConnection } from '@reelgate/platform/rpc/grpc/client';
import { Secret } from '@reelgate/platform/secret';
import { readFields, catchRefusal } from '@reelgate/platform/testing/refusals';
import { until } from '@reelgate/platform/testing/until';
import { MediaKind, MediaRole, TaskKind } from '@reelgate/proto/tasks/v1/order';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { ContentFacts, GetTaskContentResponse } from '@reelgate/proto/tasks/v1/task_service';
import { renderInWorker } from '../../deploy/local/sandbox/render/render-queue.ts';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { callKey } from '../../deploy/program/keys/identities.ts';
import { openCuttableLine } from '../harness/cuttable-line.ts';
import type { CuttableLine } from '../harness/cuttable-line.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { listTokens } from '../harness/records.ts';
import { KEYS, SIGNING_KEY, UPSTREAM_KEY, callerKey } from '../harness/test-config.ts';

const MIB = 1024 ** 2;
const TIMEOUT_MS = 120_000;
const CLIP = path.join(import.meta.dirname, '../../services/media/testing/fixtures/768p.mp4');
const REFERENCE = readFileSync(CLIP);
const LARGE_BYTES = 64 * MIB;
const STALLED = 8;
/** Without back-pressure each stalled reader would hold the large video: a gibibyte in all. */
const GROWTH_BYTES_MAX = 200 * MIB;

/** A clip with a free box behind it, which players skip. Its bytes differ, so that a wrong offset shows. */
function largeVideo(): Buffer {
  const whole = Buffer.alloc(LARGE_BYTES);
  REFERENCE.copy(whole);
  const rest = whole.subarray(REFERENCE.byteLength);
  for (let at = 8; at < rest.byteLength; at += 1024) rest.writeUInt32BE(at, Math.min(at, rest.byteLength - 4));
  rest.writeUInt32BE(rest.byteLength, 0);
  rest.write('free', 4, 'latin1');
  return whole;
}

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** What a test compares instead of the bytes, which it does not keep: there are large ones. */
interface Print {
  readonly bytes: number;
  readonly sha256: string;
}

const PART = { from: 10, to: 20 };
const printOf = (bytes: Uint8Array): Print => ({ bytes: bytes.byteLength, sha256: digest(bytes) });

async function readPrint(pieces: AsyncIterable<Uint8Array>): Promise<Print> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of pieces) {
    hash.update(piece);
    bytes += piece.byteLength;
  }
  return { bytes, sha256: hash.digest('hex') };
}

const order = (prompt: string) => ({
  kind: TaskKind.GENERATION,
  model: 'Alpha-H3',
  content: [{ item: { case: 'text' as const, value: prompt } }],
  duration: 4,
  resolution: '768P',
  ratio: '16:9',
});

/** Stands before the sandbox and keeps the bodies of the orders. */
interface Upstream {
  readonly host: string;
  readonly bodies: readonly string[];
  moveTo(url: string): void;
  stop(): Promise<void>;
}

async function startUpstream(): Promise<Upstream> {
  const bodies: string[] = [];
  let target = '';
  const pass = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const body = Buffer.concat((await request.toArray()) as Buffer[]);
    if (request.method === 'POST') bodies.push(body.toString());
    const { authorization = '', 'content-type': type = 'application/json' } = request.headers;
    const answer = await fetch(target + (request.url ?? ''), {
      method: request.method ?? 'GET',
      headers: { authorization, 'content-type': type },
      body: body.byteLength === 0 ? null : body,
    });
    response.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'application/json',
      'content-length': answer.headers.get('content-length') ?? undefined,
    });
    await pipeline(answer.body ?? [], response);
  };
  const server = http
    .createServer((request, response) => {
      pass(request, response).catch(() => response.destroy());
    })
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    moveTo: (url) => {
      target = url;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function received(messages: AsyncIterable<GetTaskContentResponse>) {
  let facts: ContentFacts | undefined;
  const print = await readPrint(
    (async function* () {
      for await (const { part } of messages) {
        if (part.case === 'facts') facts = part.value;
        else if (part.case === 'data') yield part.value;
      }
    })(),
  );
  return { facts, print };
}

function residentBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return sum + Number(kib) * 1024;
  }, 0);
}

/** The bytes of results over gRPC and Connect, in whichever shape the program runs. */
export function contentSuite(shape: Shape, { bus }: { readonly bus?: () => string } = {}): void {
  let sandbox: Sandbox;
  let upstream: Upstream;
  let program: Program;
  let connection: GrpcConnection;
  const made = new Map<string, { readonly print: Print; readonly part: Print }>();

  beforeAll(async () => {
    upstream = await startUpstream();
    sandbox = await startSandbox({
      listen: '127.0.0.1:0',
      publicHost: upstream.host,
      key: UPSTREAM_KEY,
      render: async (order, stopped) => {
        const bytes = order.prompt === 'large' ? largeVideo() : await renderInWorker(order, stopped);
        made.set(order.prompt, { print: printOf(bytes), part: printOf(bytes.subarray(PART.from, PART.to)) });
        return bytes;
      },
    });
    upstream.moveTo(sandbox.url);
    program = await newProgram(shape, { upstream: upstream.host, bus: bus?.() });
    await program.start();
    connection = connectGrpc(program.config.tasks.listen, new Secret(callerKey('pipeline')));
  }, TIMEOUT_MS);
  afterAll(async () => {
    connection?.close();
    await program?.end();
    await sandbox?.stop();
    await upstream?.stop();
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

  const tokenOfDemo = async (): Promise<string> => (await listTokens(program, 'demo'))[0]!.id;
  const known = new Map<string, string>();
  /** The id of a completed task with this prompt. */
  async function completed(prompt: string): Promise<string> {
    const earlier = known.get(prompt);
    if (earlier !== undefined) return earlier;
    const { task } = await tasks().createTask({
      accountId: 'demo',
      tokenId: await tokenOfDemo(),
      order: order(prompt),
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
      const { print: original } = made.get('a red boat')!;
      const request = { accountId: 'demo', taskId };

      const byGrpc = await received(tasks().getTaskContent(request));
      const byConnect = await received(overConnect(true).getTaskContent(request));
      const byJson = await received(overConnect(false).getTaskContent(request));
      const byHttp = await fetch(`${program.base}/v1/videos/${taskId}/content`, {
        headers: { authorization: `Bearer ${KEYS.demo}` },
      });

      for (const { facts, print } of [byGrpc, byConnect, byJson]) {
        expect(print).toEqual(original);
        expect(facts).toMatchObject({
          mediaType: 'video/mp4',
          bytes: BigInt(original.bytes),
          sha256: original.sha256,
          fileName: `${taskId}.mp4`,
        });
      }
      expect(await readPrint(byHttp.body!)).toEqual(original);
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
        expect(await catchRefusal(goOn(15_000_000n))).toMatchObject({ kind: 'unavailable' });
        line.mend();
      }
      await goOn(BigInt(LARGE_BYTES));
      cuttable.close();
      await line.stop();

      expect(copy.hash.digest('hex')).toBe(copy.facts?.sha256);
      expect(copy.facts?.sha256).toBe(made.get('large')?.print.sha256);
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
      process.stdout.write(`${shape}: ${2 * STALLED} stalled readers, ${Math.round(growth / MIB)} MiB\n`);

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

  describe('an upload', () => {
    const upload = (bytes: Uint8Array, accountId = 'demo', kind = MediaKind.IMAGE) =>
      async function* () {
        yield { header: { accountId, kind, bytes: BigInt(bytes.byteLength), sha256: digest(bytes) } };
        for (let at = 0; at < bytes.byteLength; at += 10_000) yield { data: bytes.subarray(at, at + 10_000) };
      };
    const withVideo = async (object: string) => ({
      accountId: 'demo',
      tokenId: await tokenOfDemo(),
      order: {
        ...order('a boat like this one [never]'),
        content: [
          { item: { case: 'text' as const, value: 'a boat like this one [never]' } },
          {
            item: {
              case: 'media' as const,
              value: { kind: MediaKind.VIDEO, role: MediaRole.REFERENCE_VIDEO, object },
            },
          },
        ],
      },
    });

    test.each([
      ['gRPC', () => tasks()],
      ['Connect', () => overConnect(true)],
      ['JSON over Connect', () => overConnect(false)],
    ])(
      'over %s is used by an order, and the upstream gets exactly its bytes',
      async (_name, client) => {
        const { object, bytes, expiresAt } = await client().uploadMedia(upload(REFERENCE, 'demo', MediaKind.VIDEO)());
        await tasks().createTask(await withVideo(object));

        expect([bytes, expiresAt === undefined]).toEqual([BigInt(REFERENCE.byteLength), false]);
        expect((await bytesAtUpstream()).equals(REFERENCE)).toBe(true);
      },
      TIMEOUT_MS,
    );

    test('of another account is refused like one that is unknown', async () => {
      const gateway = connectGrpc(program.config.tasks.listen, callKey('gateway', 'tasks', new Secret(SIGNING_KEY)));
      const { object } = await gateway.client(TaskService).uploadMedia(upload(REFERENCE, 'other', MediaKind.VIDEO)());
      gateway.close();

      const foreign = await catchRefusal(tasks().createTask(await withVideo(object)));
      const unknown = await catchRefusal(tasks().createTask(await withVideo('inl_unknown')));

      expect(readFields(foreign)).toEqual(readFields(unknown));
      expect(readFields(foreign)).toMatchObject({ kind: 'invalid', reason: 'invalid_media' });
    });

    test('is refused for an account that the caller may not use', async () => {
      expect(await catchRefusal(tasks().uploadMedia(upload(REFERENCE, 'other')()))).toMatchObject({
        reason: 'account_not_allowed',
        field: 'header.account_id',
      });
    });

    test.each<[string, object, object]>([
      [
        'of a type of another kind',
        { declaredType: 'video/mp4' },
        { reason: 'invalid_media', field: 'header.declared_type' },
      ],
      ['that says it is too large', { bytes: 31n * BigInt(MIB) }, { reason: 'body_too_large', field: 'header.bytes' }],
      ['that is too large', {}, { reason: 'body_too_large', field: 'data' }],
      ['with another digest', { sha256: '0'.repeat(64), bytes: 10n }, { field: 'header.sha256' }],
    ])(
      '%s is refused by its field and leaves nothing',
      async (_which, header, refused) => {
        const before = blobs();
        const wanted = 'bytes' in header && header.bytes === 10n ? 10 : 40 * MIB;
        const refusal = await catchRefusal(
          tasks().uploadMedia(
            (async function* () {
              yield { header: { accountId: 'demo', kind: MediaKind.IMAGE, ...header } };
              const piece = new Uint8Array(Math.min(wanted, MIB));
              for (let at = 0; at < wanted; at += piece.byteLength) yield { data: piece };
            })(),
          ),
        );

        expect(readFields(refusal)).toMatchObject({ kind: 'invalid', ...refused });
        await until(() => String(blobs()) === String(before));
      },
      TIMEOUT_MS,
    );

    test.each<[string, (line: CuttableLine, caller: AbortController) => void]>([
      ['is cancelled', (_line, caller) => caller.abort()],
      ['loses its connection', (line) => line.cut()],
    ])(
      'that %s leaves nothing',
      async (_how, end) => {
        const before = blobs();
        const line = await openCuttableLine(`http://${program.config.tasks.listen}`);
        const cuttable = connectGrpc(new URL(line.url).host, new Secret(callerKey('pipeline')));
        const caller = new AbortController();
        await catchRefusal(
          cuttable.client(TaskService).uploadMedia(
            (async function* () {
              // a client on Node ends its stream before it cancels it, so only the number shows that bytes are missing
              yield { header: { accountId: 'demo', kind: MediaKind.IMAGE, bytes: BigInt(2 * MIB) } };
              yield { data: new Uint8Array(MIB) };
              await until(() => blobs().length > before.length);
              end(line, caller);
              await new Promise(() => undefined);
            })(),
            { signal: caller.signal },
          ),
        );

        await until(() => String(blobs()) === String(before));
        cuttable.close();
        await line.stop();
      },
      TIMEOUT_MS,
    );
  });

  /** Names of the stored bytes and of those that come in. */
  function blobs(): readonly string[] {
    const folder = path.join(program.config.data_dir, 'blobs');
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /^(?:[0-9a-f]{2}|incoming)\/./.test(name))
      .sort();
  }

  /** The bytes of the media item of the newest order, as the upstream fetches them. */
  async function bytesAtUpstream(): Promise<Buffer> {
    const [, url = ''] = /"(data:video[^"]+|https?:[^"]+\/ximg\/[^"]+)"/.exec(upstream.bodies.at(-1) ?? '') ?? [];
    return Buffer.from(await (await fetch(url)).arrayBuffer());
  }

  describe('a link of CreateContentLink', () => {
    test(
      'gives the video to a client without a key, and names nothing of the upstream',
      async () => {
        const taskId = await completed('a red boat');
        const { print: original, part: originalPart } = made.get('a red boat')!;

        const { url } = await tasks().createContentLink({ accountId: 'demo', taskId, lifetime: { seconds: 60n } });
        const whole = await fetch(url);
        const part = await fetch(url, { headers: { range: `bytes=${PART.from}-${PART.to - 1}` } });

        expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'video/mp4']);
        expect(await readPrint(whole.body!)).toEqual(original);
        expect(await readPrint(part.body!)).toEqual(originalPart);
        expect(url).not.toContain(upstream.host);
        expect((await fetch(url.replace(/exp=\d/, 'exp=9'))).status).toBe(403);
      },
      TIMEOUT_MS,
    );

    test('is given for no task of another account', async () => {
      const taskId = await completed('a red boat');

      expect(await catchRefusal(tasks().createContentLink({ accountId: 'other', taskId }))).toMatchObject({
        reason: 'account_not_allowed',
        field: 'account_id',
      });
    });
  });
}
