import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Client, Metadata, Server, ServerCredentials, credentials, status } from '@grpc/grpc-js';
import type { ServerUnaryCall, ServiceError, sendUnaryData } from '@grpc/grpc-js';
import { aGate, inTime } from '../../../testing/bounded-waits.ts';
import { beginUnaryCall } from './unary-call.ts';
import type { RunningUnaryCall, UnaryCall } from './unary-call.ts';

const PATH = '/test.Echo/Say';
const asBytes = (bytes: Buffer): Buffer => bytes;

let server: Server;
let client: Client;
let answer: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => void;

beforeEach(async () => {
  server = new Server();
  const bytes = { requestSerialize: asBytes, requestDeserialize: asBytes };
  const method = { ...bytes, responseSerialize: asBytes, responseDeserialize: asBytes };
  server.addService(
    { say: { path: PATH, requestStream: false, responseStream: false, ...method } },
    {
      say: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
        answer(call, done);
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
});

afterEach(() => {
  client.close();
  server.forceShutdown();
});

interface Ended {
  readonly error: ServiceError | null;
  readonly answer: unknown;
}

/** Begins a call, and returns it with its end. */
function begin(changes: Partial<UnaryCall> = {}): { readonly call: RunningUnaryCall; readonly end: Promise<Ended> } {
  const { promise: end, resolve } = Promise.withResolvers<Ended>();
  const request = { path: PATH, request: Buffer.from('a question'), deserialize: String, metadata: new Metadata() };
  const call = beginUnaryCall(client, { ...request, ...changes }, (error, came) => {
    resolve({ error, answer: came });
  });
  return { call, end };
}

test('the request arrives, and its answer is read', async () => {
  answer = ({ request }, done) => {
    done(null, Buffer.from(`answer to ${String(request)}`));
  };

  expect(await begin().end).toEqual({ error: null, answer: 'answer to a question' });
});

test('a refusal has its code, its words and its metadata', async () => {
  const metadata = new Metadata();
  metadata.set('reason', 'full');
  answer = (_call, done) => {
    done({ code: status.RESOURCE_EXHAUSTED, details: 'no room', metadata });
  };
  const { error } = await begin().end;

  expect(error).toMatchObject({ code: status.RESOURCE_EXHAUSTED, details: 'no room' });
  expect(error?.metadata.get('reason')).toEqual(['full']);
});

test('an answer that cannot be read fails the call', async () => {
  answer = (_call, done) => {
    done(null, Buffer.from('not a message'));
  };
  const deserialize = (): never => {
    throw new Error('not a message');
  };

  expect((await begin({ deserialize }).end).error).toMatchObject({ code: status.INTERNAL });
});

test('a call that is cancelled ends at once, and its server is told', async () => {
  const [begun, told] = [aGate(), aGate()];
  answer = (call) => {
    call.on('cancelled', told.open);
    begun.open();
  };
  const { call, end } = begin();
  await begun.opened;
  call.cancel();

  expect((await end).error).toMatchObject({ code: status.CANCELLED });
  await inTime(told.opened);
});
