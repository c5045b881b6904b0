import type { CallOptions, Client } from '@reelgate/platform/rpc/service';
import type { MediaService } from '@reelgate/proto/media/v1/media_service';

const EXCHANGE_MS = 15_000;
const DEADLINE_MS = 20_000;

export interface WebhookRequest {
  readonly accountId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The outcome of a request: the status of the answer, or the fault that prevented an answer. */
export type WebhookAnswer = { readonly status: number } | { readonly fault: string };

/** Sends a request to a receiver, over the guarded connections of media. */
export interface WebhookSender {
  send(request: WebhookRequest, call?: CallOptions): Promise<WebhookAnswer>;
}

/** The calls of media that deliver webhooks. */
export interface WebhookCalls {
  readonly sendWebhook: Client<typeof MediaService>['sendWebhook'];
}

export function webhookSender(rpc: WebhookCalls): WebhookSender {
  return {
    send: async ({ accountId, url, headers, body }, call) => {
      const { statusCode, fault } = await rpc.sendWebhook(
        {
          accountId,
          url,
          headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
          body: Buffer.from(body),
          timeoutMs: BigInt(EXCHANGE_MS),
        },
        { ...call, timeoutMs: DEADLINE_MS },
      );
      return fault === '' ? { status: statusCode } : { fault };
    },
  };
}
