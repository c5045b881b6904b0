import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { questionOf, replyTo } from '../../services/media/testing/dns-messages.ts';

/** Addresses of names, which a test changes while programs ask for them. */
export interface NameServer {
  /** `host:port` */
  readonly address: string;
  /** The addresses of a name from now on, IPv4 or IPv6 in full. No address: there is no such name. */
  set(name: string, addresses: readonly string[]): void;
  /** How many queries of any type came for the name. */
  queries(name: string): number;
  stop(): Promise<void>;
}

/**
 * A DNS server over UDP with answers that resolvers do not keep (a TTL of 0). Programs ask it where it is the
 * `nameserver` of their resolv.conf. grpc-js asks it for `dns://HOST:PORT/name.:9101` in a process that has
 * GRPC_NODE_USE_ALTERNATIVE_RESOLVER=true in its environment.
 */
export async function startNameServer(listen = { host: '127.0.0.1', port: 0 }): Promise<NameServer> {
  const names = new Map<string, readonly string[]>();
  const queries = new Map<string, number>();
  const socket = createSocket(listen.host.includes(':') ? 'udp6' : 'udp4');
  socket.on('message', (query, from) => {
    const { name } = questionOf(query);
    queries.set(name, (queries.get(name) ?? 0) + 1);
    socket.send(replyTo(query, names.get(name)), from.port, from.address);
  });
  socket.bind(listen.port, listen.host);
  await once(socket, 'listening');
  return {
    address: `${listen.host}:${socket.address().port}`,
    set: (name, addresses) => {
      if (addresses.length === 0) names.delete(plain(name));
      else names.set(plain(name), addresses);
    },
    queries: (name) => queries.get(plain(name)) ?? 0,
    stop: async () => {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

/** As a question has it. */
function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
