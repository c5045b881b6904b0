import type { Problem } from '@reelgate/platform/problem';
import type { CallOptions, Client } from '@reelgate/platform/rpc/service';
import type { MediaService } from '@reelgate/proto/media/v1/media_service';
import { refuse } from '../refusals.ts';

/** The answer of media comes a little after the end of the exchange. */
const DEADLINE_MARGIN_MS = 2000;
/** Media had no connection free. This is not a fault of the receiver. */
const BUSY = 'busy';
/** A database refuses this character, and it is invisible. */
const NUL = /\0/g;
const REPLACEMENT = '\ufffd';

export interface WebhookRequest {
  readonly accountId: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Maximum duration of the whole exchange in milliseconds. */
  readonly timeoutMs: number;
}

export interface WebhookAnswer {
  /** The status of the answer, or 0 if there was none. */
  readonly status: number;
  /** The reason for counting the attempt as a failure at any status. Empty if the status decides. */
  readonly fault: string;
  readonly durationMs: number;
  /** The wait that the receiver asks for, in milliseconds, or 0 if it asks for none. */
  readonly retryAfterMs: number;
  /** The first bytes of the answer, as text. */
  readonly answerHead: string;
}

/** Posts to the URLs of clients, over the guarded connections of the media service. */
export interface WebhookSender {
  /** Sends a request. A receiver that cannot be reached is an answer. A refusal means that media could not send it. */
  send(request: WebhookRequest, call: CallOptions): Promise<WebhookAnswer>;
}

export type SenderClient = Pick<Client<typeof MediaService>, 'sendWebhook'>;

export function webhookSender(rpc: SenderClient): WebhookSender {
  return {
    send: async ({ headers, timeoutMs, ...request }, call) => {
      const { statusCode, fault, durationMs, retryAfterMs, answerHead } = await rpc.sendWebhook(
        {
          ...request,
          headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
          timeoutMs: BigInt(timeoutMs),
        },
        { ...call, timeoutMs: timeoutMs + DEADLINE_MARGIN_MS },
      );
      if (fault === BUSY) throw mediaBusy();
      return {
        status: statusCode,
        fault,
        durationMs: Number(durationMs),
        retryAfterMs: Number(retryAfterMs),
        answerHead: Buffer.from(answerHead).toString('utf8').replace(NUL, REPLACEMENT),
      };
    },
  };
}

function mediaBusy(): Problem {
  return refuse('media_busy');
}
