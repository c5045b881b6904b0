import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';

const TIMEOUT_MS = 120_000;
const OUTPUT_KEPT = 16 * 1024 * 1024;
const WRONG_KEY = 'sk-planted-key-that-nothing-knows';
const BODY = 'planted-body-of-a-client';
/** As a buffer is written in JSON. */
const asDecimals = (text: string): string => [...Buffer.from(text)].join(',');
const CHUNK = BODY.repeat(1000);
const REQUESTS = 20;
/** The most that the program may write for one request, whatever the request has. */
const LOG_BYTES_MAX = 4096;

type Door = readonly [what: string, port: (program: Program) => string, path: string, key: string | undefined];
const publicPort = ({ base }: Program): string => new URL(base).host;
const DOORS: readonly Door[] = [
  ['a create without a known token', publicPort, '/v1/videos', WRONG_KEY],
  ['a create with a token', publicPort, '/v1/videos', KEYS.demo],
  ['an order of the vendor', publicPort, '/v2/video_generation', KEYS.demo],
  ['a relayed call', publicPort, '/v1/chat/completions', KEYS.demo],
  ['a message of an agent', publicPort, '/mcp', KEYS.demo],
  ['a route that does not exist', publicPort, '/nothing', WRONG_KEY],
  ['a sign-in', publicPort, '/console/api/session', undefined],
  ['a callback', publicPort, '/callbacks/nothing', undefined],
  ['bytes for media', ({ config }) => config.media.http, '/bytes?account=demo', WRONG_KEY],
  ['an RPC of tasks', ({ config }) => config.tasks.http, '/reelgate.tasks.v1.TaskService/GetTask', WRONG_KEY],
  ['an RPC of billing', ({ config }) => config.billing.http, '/reelgate.billing.v1.TokenService/X', WRONG_KEY],
];

describe('a request that breaks its chunks', () => {
  let program: Program;
  let stopUpstream: () => Promise<void>;
  beforeAll(async () => {
    const upstream = await startScriptedUpstream();
    stopUpstream = () => upstream.stop();
    const options = { environment: { REELGATE_LOG: 'debug' }, outputKept: OUTPUT_KEPT };
    program = await newProgram('one program', { upstream: upstream.host }, undefined, options);
    await program.start();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await program.end();
    await stopUpstream();
  }, TIMEOUT_MS);

  test.each(DOORS)(
    '%s leaves nothing of itself in the log, and little else',
    async (_what, port, path, key) => {
      const before = program.output().length;
      for (let sent = 0; sent < REQUESTS; sent += 1) await sendBroken(port(program), path, key);
      // a line waits for others for some milliseconds
      const answer = await fetch(`${program.base}/healthz`);
      await answer.arrayBuffer();

      const written = program.output();
      for (const secret of [WRONG_KEY, KEYS.demo, BODY])
        for (const form of [secret, asDecimals(secret), Buffer.from(secret).toString('base64').slice(0, 16)])
          expect(written).not.toContain(form);
      expect(written).not.toContain('rawPacket');
      expect(written.length - before).toBeLessThan(REQUESTS * LOG_BYTES_MAX);
    },
    TIMEOUT_MS,
  );
});

/** Sends a whole chunk and then bytes that are none. Resolves when the other side has closed the connection. */
async function sendBroken(address: string, path: string, key: string | undefined): Promise<void> {
  const { hostname, port } = new URL(`http://${address}`);
  const socket = net.connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const authorization = key === undefined ? '' : `authorization: Bearer ${key}\r\n`;
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${authorization}content-type: application/json\r\n` +
      `origin: http://127.0.0.1\r\nx-reelgate-console: 1\r\ntransfer-encoding: chunked\r\n\r\n` +
      `${CHUNK.length.toString(16)}\r\n${CHUNK}\r\nno-length ${key ?? ''} ${CHUNK}`,
  );
  socket.resume();
  await closed;
}
