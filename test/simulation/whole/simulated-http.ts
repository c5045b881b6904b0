import { createServer, request as sendRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestListener } from 'node:http';
import { Duplex } from 'node:stream';
import type { GatewayPorts } from '@reelgate/gateway/app';
import type { Draws } from './draws.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';

const LATENCY_MS_MAX = 6;
const CLIENT_ADDRESS = '203.0.113.7';

/** A request of a client to the public port. */
export interface HttpOrder {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  /** An object is sent as JSON. A text is sent as it is; its type is in the headers. */
  readonly body?: object | string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The process that has answered. */
  readonly process: string;
}

/** No whole answer came: the process is down, died before it had answered, or the client left. */
export class LostAnswer extends Error {
  override readonly name = 'LostAnswer';
}

export interface SendOptions {
  /** The client closes its connection after this time. */
  readonly leaveAfterMs?: number | undefined;
  /** Called for each part of the body that arrives. */
  readonly onPart?: (text: string) => void;
  /** How the client sends its body. Undefined: at once. */
  readonly pace?: BodyPace | undefined;
}

/** A body that is sent in pieces. Its length is declared only if a header of the request does. */
export interface BodyPace {
  readonly pieces: readonly string[];
  /** Before each piece. */
  readonly apartMs: number;
  /** True if the client sends nothing after the last piece, not even the end of the body. */
  readonly stops: boolean;
}

/** The public port of one process: real HTTP over simulated connections. */
export interface SimulatedPort {
  readonly port: GatewayPorts['public'];
  /** `name` names the choices of the request. */
  send(name: string, order: HttpOrder, options?: SendOptions): Promise<HttpAnswer>;
  /** The process has died: its connections end at the clients without an answer. */
  cut(): void;
}

export interface PortOptions {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly process: SimulatedProcess;
}

export function openSimulatedPort({ scheduler, draws, process }: PortOptions): SimulatedPort {
  let handle: RequestListener | undefined;
  const server = createServer((request, response) => {
    handle?.(request, response);
  });
  const open = new Set<Duplex>();
  const send: SimulatedPort['send'] = (name, order, { leaveAfterMs, onPart, pace } = {}) =>
    new Promise((resolve, reject) => {
      const { near, far } = connect(scheduler, process, draws, name);
      open.add(near);
      near.once('close', () => open.delete(near));
      const lose = (): void => {
        near.destroy();
        reject(new LostAnswer('no whole answer came'));
      };
      near.once('error', lose);
      server.emit('connection', far);
      const sent = newRequest(order, near, (answer) => {
        readAnswer(answer, onPart, (read) => resolve({ ...read, process: process.name }), lose);
      });
      sent.once('error', lose);
      if (pace === undefined) sent.end(typeof order.body === 'object' ? JSON.stringify(order.body) : order.body);
      else sendPieces(sent, pace, scheduler);
      if (leaveAfterMs !== undefined) scheduler.after(leaveAfterMs, scheduler.world, lose);
    });
  return {
    send,
    cut: () => {
      for (const near of open) near.destroy(new LostAnswer('the process died'));
    },
    port: {
      port: 0,
      serve: (application) => {
        handle = application.handle;
      },
      drain: async () => undefined,
      stop: async () => undefined,
    },
  };
}

function newRequest(
  { method, path, key, body, headers = {} }: HttpOrder,
  connection: Duplex,
  take: (answer: IncomingMessage) => void,
): ClientRequest {
  return sendRequest(
    {
      ...{ method, path, host: 'gateway.example' },
      headers: {
        ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      createConnection: () => connection,
    },
    take,
  );
}

/** Sends one piece after the other, up to the answer. A connection with the rest of a body is of no more use then. */
function sendPieces(sent: ClientRequest, { pieces, apartMs, stops }: BodyPace, scheduler: Scheduler): void {
  let next = 0;
  let isAnswered = false;
  sent.once('response', (answer) => {
    isAnswered = true;
    answer.once('end', () => {
      if (!sent.writableEnded) sent.destroy();
    });
  });
  const sendNext = (): void => {
    if (isAnswered || sent.destroyed) return;
    const piece = pieces[next];
    next += 1;
    if (piece !== undefined) {
      sent.write(piece);
      scheduler.after(apartMs, scheduler.world, sendNext);
    } else if (!stops) sent.end();
  };
  sent.flushHeaders();
  scheduler.after(apartMs, scheduler.world, sendNext);
}

function readAnswer(
  answer: IncomingMessage,
  onPart: SendOptions['onPart'],
  resolve: (answer: Omit<HttpAnswer, 'process'>) => void,
  lose: () => void,
): void {
  let text = '';
  answer.setEncoding('utf8');
  answer.on('data', (part: string) => {
    text += part;
    onPart?.(part);
  });
  answer.once('end', () => {
    resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
  });
  answer.once('error', lose);
}

/** Both ends of a connection: of a client, and of the process. Bytes take a time from one to the other. */
function connect(
  scheduler: Scheduler,
  process: SimulatedProcess,
  draws: Draws,
  name: string,
): { readonly near: Duplex; readonly far: Duplex } {
  let parts = 0;
  /** Bytes keep their order. */
  const arrivals = { near: 0, far: 0 };
  const deliver = (to: 'near' | 'far', run: () => void): void => {
    parts += 1;
    const at = scheduler.now() + draws.whole(`${name} part ${parts}`, 1, LATENCY_MS_MAX);
    arrivals[to] = Math.max(arrivals[to], at);
    scheduler.after(arrivals[to] - scheduler.now(), to === 'far' ? process : scheduler.world, run);
  };
  const newEnd = (to: 'near' | 'far', other: () => Duplex): Duplex =>
    new Duplex({
      read: () => undefined,
      write: (bytes: Buffer, _encoding, done) => {
        deliver(to, () => other().push(bytes));
        done();
      },
      final: (done) => {
        deliver(to, () => other().push(null));
        done();
      },
      destroy: (error, done) => {
        deliver(to, () => {
          if (!other().destroyed) other().destroy();
        });
        done(error);
      },
    });
  const near: Duplex = newEnd('far', () => far);
  const far: Duplex = Object.assign(
    newEnd('near', () => near),
    { remoteAddress: CLIENT_ADDRESS },
  );
  return { near, far };
}
