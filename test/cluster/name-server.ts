import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { questionOf, replyTo } from '../../services/media/testing/dns-messages.ts';

const PORT = 53;
const ZONE = '.svc.cluster.local';

/** The name server of a cluster. `addressesOf` is asked for each query, so an answer is as new as its facts. */
export interface NameServer {
  close(): Promise<void>;
}

/** Answers for names of the form `name.namespace.svc.cluster.local`. There is no other name. */
export async function startNameServer(
  address: string,
  addressesOf: (name: string) => readonly string[] | undefined,
): Promise<NameServer> {
  const reply = (query: Buffer): Buffer => {
    const { name } = questionOf(query);
    return replyTo(query, name.endsWith(ZONE) ? addressesOf(name.slice(0, -ZONE.length)) : undefined);
  };
  const packets = createSocket('udp4');
  packets.on('message', (query, from) => {
    packets.send(reply(query), from.port, from.address);
  });
  packets.bind(PORT, address);
  const streams = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (query) => {
      const answer = reply(query.subarray(2));
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answer.byteLength);
      socket.end(Buffer.concat([length, answer]));
    });
  });
  streams.listen(PORT, address);
  await Promise.all([once(packets, 'listening'), once(streams, 'listening')]);
  return {
    close: async () => {
      const closed = Promise.all([once(packets, 'close'), once(streams, 'close')]);
      packets.close();
      streams.close();
      await closed;
    },
  };
}
