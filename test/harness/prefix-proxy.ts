import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';

/** A proxy that serves programs below prefixes, as one host name that several services share. */
export interface PrefixProxy {
  readonly origin: string;
  /** `host:port` of the program behind each prefix, such as `/gw`. */
  readonly targets: Map<string, string>;
  /** True if the proxy takes the prefix off, which it does until a test says otherwise. */
  strips: boolean;
  /** The paths that lay below no prefix, or that a program answered with 404. */
  readonly lost: string[];
  stop(): Promise<void>;
}

export async function startPrefixProxy(): Promise<PrefixProxy> {
  const targets = new Map<string, string>();
  const lost: string[] = [];
  const server = createServer((request, response) => {
    const { url = '/', method = 'GET', headers } = request;
    const [prefix, target] = [...targets].find(([one]) => url === one || url.startsWith(`${one}/`)) ?? ['', ''];
    const [host, port] = target.split(':');
    if (host === undefined || port === undefined) {
      lost.push(url);
      response.writeHead(404).end();
      return;
    }
    const path = proxy.strips ? url.slice(prefix.length) || '/' : url;
    const sent = send({ host, port, path, method, headers: { ...headers, 'x-forwarded-for': '127.0.0.1' } });
    sent.on('response', (answer) => {
      if (answer.statusCode === 404) lost.push(url);
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    sent.on('error', () => response.destroy());
    response.on('close', () => sent.destroy());
    request.pipe(sent);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: PrefixProxy = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets,
    strips: true,
    lost,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
