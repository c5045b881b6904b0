import { createHmac } from 'node:crypto';
import { newToken } from './random-ids.ts';
import { linkMsMax } from './limits.ts';

export type SignedLinks = {
  /** Makes a new link, which works for an hour. */
  make(taskId: string): string;
  isValid(taskId: string, query: URLSearchParams): boolean;
};

type LinkParts = { readonly base: string; readonly now: () => number; readonly secret: string };

export function newSignedLinks({ base, now, secret }: LinkParts): SignedLinks {
  const sign = (...parts: readonly string[]): string =>
    createHmac('sha256', secret).update(parts.join(' ')).digest('hex').slice(0, 32);
  return {
    make: (taskId) => {
      const expires = String(Math.floor((now() + linkMsMax) / 1000));
      const nonce = newToken().slice(0, 8);
      const signature = sign(taskId, expires, nonce);
      return `${base}/cdn/${taskId}/output.mp4?expires=${expires}&nonce=${nonce}&signature=${signature}`;
    },
    isValid: (taskId, query) => {
      const expires = query.get('expires') ?? '';
      return (
        query.get('signature') === sign(taskId, expires, query.get('nonce') ?? '') && now() < Number(expires) * 1000
      );
    },
  };
}
