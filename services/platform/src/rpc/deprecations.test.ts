import { create, toBinary } from '@bufbuild/protobuf';
import type { DescMethod } from '@bufbuild/protobuf';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Client, Metadata, credentials } from '@grpc/grpc-js';
import { aMessage, aService } from '../../testing/a-message.ts';
import type { MessageSpec } from '../../testing/a-message.ts';
import { CALLERS } from '../../testing/rpc-transports.ts';
import { silenceRpcLibraries } from '../../testing/partial-service.ts';
import { silentLog } from '../log.ts';
import { newMetrics } from '../metrics/metrics.ts';
import { Problem } from '../problem.ts';
import { identifyAmong } from './callers.ts';
import { startConnectServer } from './connect/server.ts';
import { deprecations } from './deprecations.ts';
import { startGrpcServer } from './grpc/server.ts';
import type { RpcServer } from './grpc/server.ts';
import type { Binding } from './service.ts';

silenceRpcLibraries();

const AUTHORIZATION = 'Bearer key-of-the-program';
const SERVICE = aService({
  fields: {
    name: { type: 'string' },
    models: { type: 'string', repeated: true, deprecated: true },
    limit: { type: 'int32', deprecated: true },
  },
});
const [METHOD] = SERVICE.methods;
const PATH = `/${SERVICE.typeName}/${METHOD!.name}`;
const REQUEST = { name: 'demo' };
const SET = { ...REQUEST, models: ['*'], limit: 3 };
const BOTH = 'models, limit';

const servers: RpcServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function opened(start: typeof startGrpcServer | typeof startConnectServer, refusal?: Problem) {
  const metrics = newMetrics(false);
  const make = async (): Promise<object> => {
    if (refusal !== undefined) throw refusal;
    return {};
  };
  const binding: Binding = { service: SERVICE, methods: { make } };
  const listen = { host: '127.0.0.1', port: 0 };
  const identify = identifyAmong(CALLERS);
  const server = await start({ listen, bindings: [binding], identify, log: silentLog, metrics, routes: [] });
  servers.push(server);
  return { address: `127.0.0.1:${server.port}`, counted: () => metrics.text() };
}

/** The header of an answer of gRPC. */
async function byGrpc(address: string, request: object): Promise<string | undefined> {
  const client = new Client(address, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('authorization', AUTHORIZATION);
  try {
    return await new Promise((resolve) => {
      let header: string | undefined;
      client
        .makeUnaryRequest(
          PATH,
          (bytes: Buffer) => bytes,
          (bytes: Buffer) => bytes,
          Buffer.from(toBinary(METHOD!.input, create(METHOD!.input, { ...request }))),
          metadata,
          () => {
            resolve(header);
          },
        )
        .on('metadata', (received: Metadata) => {
          header = received.get('reelgate-deprecated')[0]?.toString();
        });
    });
  } finally {
    client.close();
  }
}

/** The header of an answer of Connect with JSON. */
async function byConnect(address: string, request: object): Promise<string | undefined> {
  const response = await fetch(`http://${address}${PATH}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: AUTHORIZATION },
    body: JSON.stringify(request),
  });
  await response.text();
  return response.headers.get('reelgate-deprecated') ?? undefined;
}

describe.each([
  ['gRPC', startGrpcServer, byGrpc],
  ['Connect with JSON', startConnectServer, byConnect],
] as const)('over %s', (_name, start, headerOf) => {
  test('an answer names the deprecated fields that its request set', async () => {
    const { address, counted } = await opened(start);

    expect(await headerOf(address, SET)).toBe(BOTH);
    expect(await headerOf(address, { ...REQUEST, models: ['*'] })).toBe('models');

    const text = await counted();
    const line = (field: string) => `reelgate_rpc_deprecated_total{rpc="${PATH.slice(1)}",field="${field}"}`;
    expect(text).toContain(`${line('models')} 2`);
    expect(text).toContain(`${line('limit')} 1`);
  });

  test('an answer to a request without them has no such header, and nothing is counted', async () => {
    const { address, counted } = await opened(start);

    expect(await headerOf(address, REQUEST)).toBeUndefined();
    expect(await counted()).not.toContain(SERVICE.typeName);
  });

  test('a refusal by the method names them too', async () => {
    const { address } = await opened(
      start,
      new Problem({ kind: 'gone', reason: 'result_expired', message: 'is gone' }),
    );

    expect(await headerOf(address, SET)).toBe(BOTH);
  });
});

describe('the deprecated parts of a call', () => {
  const noted = (spec: MessageSpec, init: object, deprecated = false): string | undefined => {
    const input = aMessage(spec);
    const method = { input, deprecated, name: 'Make', parent: { typeName: 'reelgate.testing.v1.S' } } as DescMethod;
    let told: string | undefined;
    deprecations(undefined)(method)(create(input, init as never), (names) => {
      told = names;
    });
    return told;
  };
  const old = { type: 'string', deprecated: true } as const;

  test.each<[string, MessageSpec, object, string | undefined]>([
    ['a field that is set', { fields: { old } }, { old: 'x' }, 'old'],
    ['a field that is empty', { fields: { old } }, { old: '' }, undefined],
    ['a list', { fields: { old: { ...old, repeated: true } } }, { old: [''] }, 'old'],
    ['an empty list', { fields: { old: { ...old, repeated: true } } }, { old: [] }, undefined],
    ['a field that is present and zero', { fields: { old: { ...old, optional: true } } }, { old: '' }, 'old'],
    ['a field below', { fields: { outer: { type: 'message' } }, inner: { old } }, { outer: { old: 'x' } }, 'outer.old'],
    ['a field below that is absent', { fields: { outer: { type: 'message' } }, inner: { old } }, {}, undefined],
    [
      'a field of several items, once',
      { fields: { outer: { type: 'message', repeated: true } }, inner: { old } },
      { outer: [{ old: 'x' }, {}, { old: 'y' }] },
      'outer.old',
    ],
  ])('are %s', (_what, spec, init, names) => {
    expect(noted(spec, init)).toBe(names);
  });

  test('are the RPC itself, before its fields', () => {
    expect(noted({ fields: { old } }, {}, true)).toBe('Make');
    expect(noted({ fields: { old } }, { old: 'x' }, true)).toBe('Make, old');
  });
});
