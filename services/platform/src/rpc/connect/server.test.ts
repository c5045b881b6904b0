import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MediaService as MediaContract } from '@reelgate/proto/media/v1/media_service';
import { unruled } from '../../../testing/unruled.ts';
import { aGate, inTime } from '../../../testing/bounded-waits.ts';
import { partialService } from '../../../testing/partial-service.ts';
import { CALLERS } from '../../../testing/rpc-transports.ts';
import { healthRoutes } from '../../http/health-routes.ts';
import { silentLog } from '../../log.ts';
import { newMetrics } from '../../metrics/metrics.ts';
import { Problem } from '../../problem.ts';
import { identifyAmong } from '../callers.ts';
import { startConnectServer } from './server.ts';
import type { RpcServer } from '../grpc/server.ts';

const MediaService = unruled(MediaContract);

const media = partialService(MediaService, {
  stageMedia: async () => {
    throw new Problem({
      kind: 'exhausted',
      reason: 'too_many',
      message: 'wait a while',
      field: 'url',
      retryAfterMs: 2000,
    });
  },
  ingestResult: async () => {
    throw new Error('password=hunter2');
  },
  removeResult: async () => {
    removed += 1;
    return { removed: true };
  },
  linkObject: async () => {
    throw new Problem({ kind: 'invalid', reason: 'invalid_request', field: 'object', message: 'is required' });
  },
});

const TOO_DEEP = `{"task_id":${'['.repeat(64)}${']'.repeat(64)}}`;
const TOO_WIDE = `{${Array.from({ length: 1001 }, (_, index) => `"k${index}":1`).join(',')}}`;

let server: RpcServer;
let removed: number;
beforeEach(async () => {
  removed = 0;
  server = await startConnectServer({
    listen: { host: '127.0.0.1', port: 0 },
    bindings: [media],
    identify: identifyAmong(CALLERS),
    log: silentLog,
    routes: [
      (request, response) => request.url === '/own' && Boolean(response.end('own')),
      healthRoutes(async () => true, newMetrics(false)),
    ],
  });
});
afterEach(async () => {
  await server.stop();
});

const url = (path: string): string => `http://127.0.0.1:${server.port}${path}`;
const call = (
  method: string,
  body: string,
  headers: Record<string, string> = { authorization: 'Bearer key-of-the-program' },
): Promise<Response> =>
  fetch(url(`/reelgate.media.v1.MediaService/${method}`), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

describe('JSON with curl', () => {
  test('answers in JSON, and accepts both spellings of a field', async () => {
    for (const body of ['{"task_id":"task_1"}', '{"taskId":"task_1"}', '{}']) {
      const response = await call('RemoveResult', body);

      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ removed: true });
    }
  });

  test('shows every field of a refusal', async () => {
    const response = await call('StageMedia', '{}');

    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({
      code: 'resource_exhausted',
      message: 'url wait a while',
      details: [
        {
          type: 'reelgate.problem.v1.Problem',
          debug: { kind: 'KIND_EXHAUSTED', reason: 'too_many', field: 'url', retryAfterMs: '2000' },
        },
        { type: 'google.rpc.ErrorInfo', debug: { reason: 'TOO_MANY', domain: 'reelgate' } },
        { type: 'google.rpc.BadRequest', debug: { fieldViolations: [{ field: 'url', description: 'wait a while' }] } },
        { type: 'google.rpc.RetryInfo', debug: { retryDelay: '2s' } },
        { type: 'google.rpc.QuotaFailure', debug: { violations: [{ description: 'wait a while' }] } },
      ],
    });
  });

  test('names the field of a refusal in its message', async () => {
    const response = await call('LinkObject', '{}');

    expect(await response.json()).toMatchObject({ code: 'invalid_argument', message: 'object is required' });
  });

  test('shows no detail of a fault', async () => {
    const response = await call('IngestResult', '{}');

    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('hunter2');
  });

  test.each([
    [
      '{',
      'invalid_json',
      '',
      "the body is not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
    ],
    ['', 'invalid_json', '', 'the body is empty; send {} for a request without fields'],
    [TOO_DEEP, 'invalid_json', '', 'the body must not nest deeper than 64 levels'],
    [
      TOO_WIDE,
      'invalid_json',
      '',
      'the body must have at most 1000 members in one object; send a list where there are more',
    ],
    ['[]', 'invalid_request', '', 'the body must be an object with the fields of RemoveResultRequest; it is a list'],
    ['{"task_id":7}', 'invalid_request', 'task_id', 'must be a string; it is 7'],
    [
      '{"task_id":"task_1","taskid":"task_1"}',
      'unknown_field',
      'taskid',
      'is not a field of RemoveResultRequest; did you mean task_id (taskId)',
    ],
    [
      '{"task_id":"a","taskId":"b"}',
      'invalid_request',
      'task_id',
      'is given twice, as task_id and as taskId; send it once',
    ],
    ['{"task_id":"a","task_id":"a"}', 'invalid_request', 'task_id', 'is given twice; send it once'],
  ])('refuses the body %s before its method', async (body, reason, field, message) => {
    const response = await call('RemoveResult', body);

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'invalid_argument',
      message: field === '' ? message : `${field} ${message}`,
      details: [
        { type: 'reelgate.problem.v1.Problem', debug: { kind: 'KIND_INVALID', reason, message } },
        { type: 'google.rpc.ErrorInfo', debug: { reason: reason.toUpperCase() } },
        ...(field === '' ? [] : [{ type: 'google.rpc.BadRequest', debug: { fieldViolations: [{ field }] } }]),
      ],
    });
    expect(removed).toBe(0);
  });

  test('without a key is refused', async () => {
    expect((await call('RemoveResult', '{}', {})).status).toBe(401);
  });

  test.each([
    [
      '/',
      /^there is no service "" here; this port has reelgate.media.v1.MediaService; call an RPC as POST \/SERVICE\/RPC$/,
    ],
    ['/none', /^there is no service "none" here/],
    ['/reelgate.media.v1.mediaservice/X', /here; did you mean reelgate.media.v1.MediaService; call/],
    ['/reelgate.media.v1.MediaService', /MediaService has no RPC ""; it has StageMedia, /],
    [
      '/reelgate.media.v1.MediaService/removeResult',
      /MediaService has no RPC "removeResult"; did you mean RemoveResult$/,
    ],
  ])('at %s gets 404 and what there is', async (path, message) => {
    const response = await fetch(url(path), { method: 'POST' });

    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/json']);
    expect(await response.json()).toEqual({ code: 'unimplemented', message: expect.stringMatching(message) });
  });

  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS'])('with %s gets 405 and the method to use', async (method) => {
    const response = await fetch(url('/reelgate.media.v1.MediaService/RemoveResult'), { method });

    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await response.json()).toMatchObject({
      code: 'invalid_argument',
      message: `RemoveResult is called with POST; this request is a ${method}`,
      details: [{ debug: { reason: 'method_not_allowed' } }, {}],
    });
  });

  test('with HEAD gets 405 without a body', async () => {
    const response = await fetch(url('/reelgate.media.v1.MediaService/RemoveResult'), { method: 'HEAD' });

    expect([response.status, await response.text()]).toEqual([405, '']);
  });

  test.each([
    ['text/plain', 'the content type of this request is "text/plain"'],
    ['application/connect+json', 'the content type of this request is "application/connect+json"'],
    ['application/json; charset=latin1', 'the content type of this request is "application/json; charset=latin1"'],
    ['', 'this request has no content type'],
  ])('of the content type %j gets 415 and those to use', async (type, sent) => {
    const response = await fetch(url('/reelgate.media.v1.MediaService/RemoveResult'), {
      method: 'POST',
      headers: { 'content-type': type },
      body: Uint8Array.of(123, 125),
    });

    expect([response.status, response.headers.get('accept-post')]).toEqual([
      415,
      'application/json, application/proto',
    ]);
    expect(await response.json()).toMatchObject({
      code: 'invalid_argument',
      message: `RemoveResult takes application/json and application/proto, or gRPC-web; ${sent}`,
      details: [{ debug: { reason: 'unsupported_media_type' } }, {}],
    });
  });
});

test('the plain routes run in turn, before the RPCs and without a key', async () => {
  expect(await (await fetch(url('/own'))).text()).toBe('own');
  expect(await (await fetch(url('/healthz'))).text()).toBe('ok\n');
  expect((await fetch(url('/metrics'))).status).toBe(200);
});

test('a kept connection does not delay the stop, even during an answer', async () => {
  const [begun, gate] = [aGate(), aGate()];
  const slow = await startConnectServer({
    listen: { host: '127.0.0.1', port: 0 },
    bindings: [],
    identify: identifyAmong(CALLERS),
    log: silentLog,
    routes: [
      (_request, response) => {
        begun.open();
        void gate.opened.then(() => response.end('answered'));
        return true;
      },
    ],
  });
  const socket = connect(slow.port, '127.0.0.1');
  const answer = new Promise<string>((resolve) =>
    socket.once('data', (data: Buffer) => {
      resolve(data.toString());
    }),
  );
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await inTime(begun.opened);
  const plain = createServer((_request, response) => response.end('answered')).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const kept = connect((plain.address() as AddressInfo).port, '127.0.0.1');
  kept.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await inTime(once(kept, 'data'));

  const stopped = slow.stop();
  gate.open();

  expect(await inTime(answer)).toContain('answered');
  await inTime(Promise.all([stopped, ended]));
  // one of a server that does not stop ends at its idle limit, which began before
  expect(kept.closed).toBe(false);
  kept.destroy();
  plain.close();
});

test('during a drain the port answers health to the end, finishes what runs, and sends new requests elsewhere', async () => {
  const [begun, gate, closing] = [aGate(), aGate(), new AbortController()];
  const draining = await startConnectServer({
    listen: { host: '127.0.0.1', port: 0 },
    bindings: [],
    identify: identifyAmong(CALLERS),
    log: silentLog,
    health: healthRoutes(async () => false),
    routes: [
      (_request, response) => {
        begun.open();
        void gate.opened.then(() => response.end('answered'));
        return true;
      },
    ],
  });
  const ask = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${draining.port}${path}`);
  const running = ask('/own');
  await inTime(begun.opened);

  const drained = draining.drain({ closing: closing.signal, over: new AbortController().signal, idleMs: 0 });
  closing.abort();
  const refused = await ask('/own');
  const readyz = await ask('/readyz');
  gate.open();

  expect([refused.status, refused.headers.get('connection'), refused.headers.get('retry-after')]).toEqual([
    503,
    'close',
    '1',
  ]);
  expect(readyz.status).toBe(503);
  const answer = await inTime(running);
  expect([await answer.text(), answer.headers.get('connection')]).toEqual(['answered', 'close']);
  await inTime(drained);
  expect((await ask('/healthz')).status).toBe(200);
  await inTime(draining.stop());
});
