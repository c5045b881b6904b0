import type { IncomingMessage } from 'node:http';
import { Problem } from '@reelgate/platform/problem';
import { ClientGone, tooLarge } from './receive-body.ts';
import type { ReceiveOptions } from './receive-body.ts';

/**
 * Reads the bytes of a body within the limits of one body and of all bodies. The rest of a refused body stays unread.
 */
export function readRawBody(request: IncomingMessage, options: ReceiveOptions): Promise<Buffer> {
  const { bytesMax, budget } = options;
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let received = 0;
  options.whenOver(() => {
    budget.release(received);
  });
  const stop = (refusal: Error): void => {
    request.off('data', take).off('end', end).pause();
    reject(refusal);
  };
  const take = (chunk: Buffer): void => {
    if (received + chunk.length > bytesMax) stop(tooLarge(bytesMax));
    else if (!budget.tryReserve(chunk.length))
      stop(
        new Problem({
          kind: 'unavailable',
          reason: 'gateway_busy',
          message: 'the gateway holds too many request bodies; retry in 1 s',
          retryAfterMs: 1000,
        }),
      );
    else {
      received += chunk.length;
      chunks.push(chunk);
    }
  };
  const end = (): void => {
    const [first] = chunks;
    resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks));
  };
  request
    .on('data', take)
    .once('end', end)
    .once('close', () => {
      if (!request.complete) reject(new ClientGone('the request broke off'));
    })
    .once('error', (error) => {
      reject(request.complete ? error : new ClientGone('the request broke off', { cause: error }));
    });
  options.sendContinue();
  return promise;
}
