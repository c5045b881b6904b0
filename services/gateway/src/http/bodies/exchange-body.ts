import type { ClientBody } from '../../dialects/dialect.ts';
import type { BodyBudget } from './body-budget.ts';
import type { Exchange } from '../exchange.ts';
import { readBody } from './read-body.ts';
import type { ReceiveOptions } from './receive-body.ts';

interface BodyLimit {
  readonly bodyBytes: number;
}

/** Reads the body of an exchange within the limits of this gateway. */
export function readExchangeBody(
  exchange: Exchange,
  { limits, budget }: { readonly limits: BodyLimit; readonly budget: BodyBudget },
  takesForms: boolean,
): Promise<ClientBody> {
  return readBody(exchange.req, { takesForms, ...toReceiveOptions(exchange, budget, limits.bodyBytes) });
}

/** Returns the options for receiving the body of an exchange of at most `bytesMax` bytes. */
export function toReceiveOptions(exchange: Exchange, budget: BodyBudget, bytesMax: number): ReceiveOptions {
  return {
    budget,
    bytesMax,
    gone: exchange.state.end.gone,
    whenOver: exchange.state.end.whenOver,
    sendContinue: () => {
      if (!exchange.state.expectsContinue) return;
      exchange.state.expectsContinue = false;
      exchange.res.writeContinue();
    },
  };
}
