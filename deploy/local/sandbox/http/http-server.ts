import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newToken } from '../chance.ts';
import { bodyMsMax, idleMsMax } from '../limits.ts';
import { internalError, Refusal, toWireRefusal } from '../refusal.ts';
import type { Answer } from './answer.ts';
import { writeAnswer } from './write-answer.ts';

export type Handler = (request: IncomingMessage) => Promise<Answer>;

/** The HTTP server: it turns a thrown error into the vendor's envelope, and an answer into bytes. */
export function httpServer(handle: Handler, report: (fault: unknown) => void): Server {
  const refusalAnswer = (fault: unknown): Answer => {
    if (!(fault instanceof Refusal)) report(fault);
    const refusal = fault instanceof Refusal ? fault : internalError();
    return { as: 'json', status: refusal.http, body: toWireRefusal(refusal, newToken()) };
  };

  return createServer({ requestTimeout: bodyMsMax, keepAliveTimeout: idleMsMax }, (request, response) => {
    response.on('error', () => undefined);
    void handle(request)
      .catch(refusalAnswer)
      .then((answer) => {
        // The server would take the unread rest of a body for the next request.
        if (!request.complete && answer.as !== 'silence') response.setHeader('connection', 'close');
        writeAnswer(response, answer);
        request.resume();
      });
  });
}

/** Listens on `host:port` only (port 0: any free port). Returns the address. */
export async function listen(server: Server, address: string): Promise<string> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  server.listen({ host, port: Number(address.slice(colon + 1)) });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Stops listening and cuts every connection, including those that wait for an answer. */
export async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
