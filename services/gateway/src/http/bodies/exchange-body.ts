import type { IncomingMessage } from 'node:http';
import type { ClientBody } from '../../dialects/dialect.ts';
import type { BodyBudget } from './body-budget.ts';
import type { Exchange } from '../exchange.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { readBody } from './read-body.ts';
import type { ReceiveOptions } from './receive-body.ts';

/** Requests that wait for leave before they send their body (Expect: 100-continue). */
const waiting = new WeakSet<IncomingMessage>();

export function waitsForLeave(request: IncomingMessage): boolean {
  return waiting.has(request);
}

export function noteWaiting(request: IncomingMessage): void {
  waiting.add(request);
}

/** The body of an exchange, within the limits of this gateway. */
export function readExchangeBody(
  exchange: Exchange,
  { limits, budget }: Pick<GatewayParts, 'limits' | 'budget'>,
  takesForms: boolean,
): Promise<ClientBody> {
  return readBody(exchange.req, { takesForms, ...receiveOptions(exchange, budget, limits.bodyBytes) });
}

/** How the body of an exchange is received, up to so many bytes. */
export function receiveOptions(exchange: Exchange, budget: BodyBudget, bytesMax: number): ReceiveOptions {
  return {
    budget,
    bytesMax,
    gone: exchange.state.gone,
    whenOver: (giveBack) => exchange.res.once('close', giveBack),
    goOn: () => {
      if (waiting.delete(exchange.req)) exchange.res.writeContinue();
    },
  };
}
