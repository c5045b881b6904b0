import { createServer } from 'node:http';
import { Duplex } from 'node:stream';
import { expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import type { CallSink } from '../answers/call-sink.ts';
import { responseSink } from './relay-routes.ts';

const HEAD_END = '\r\n\r\n';
const EVENT = 'data: one\n\n';

/** What the server writes for an answer, one text for each write to the connection. */
async function writesOf(answer: (sink: CallSink) => void): Promise<readonly string[]> {
  const writes: string[] = [];
  const connection = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      writes.push(chunk.toString());
      done();
    },
    writev: (parts, done) => {
      writes.push(parts.map(({ chunk }) => String(chunk)).join(''));
      done();
    },
  });
  const server = createServer((_request, response) => {
    answer(responseSink(response));
  });
  server.emit('connection', connection);
  connection.push('GET / HTTP/1.1\r\nhost: test\r\n\r\n');
  await until(() => writes.length > 0);
  connection.destroy();
  return writes;
}

test('the head of a stream leaves before its first event', async () => {
  const [head] = await writesOf((sink) => {
    sink.begin(200, { 'content-type': 'text/event-stream' });
  });

  expect(head?.endsWith(HEAD_END)).toBe(true);
});

test('the head of a stream is written with an event that has come already', async () => {
  const [first] = await writesOf((sink) => {
    sink.begin(200, { 'content-type': 'text/event-stream' });
    sink.write(Buffer.from(EVENT));
  });

  expect(first).toContain(EVENT);
});

test('a stream that ends at once has one head, written with its last event', async () => {
  const [first] = await writesOf((sink) => {
    sink.begin(200, { 'content-type': 'text/event-stream' });
    sink.end(Buffer.from(EVENT), {});
  });

  expect(first?.split('HTTP/1.1')).toHaveLength(2);
  expect(first).toContain(EVENT);
});
