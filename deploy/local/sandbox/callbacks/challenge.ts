import { newToken } from '../chance.ts';
import { deadline, type Clock } from '../clock.ts';
import { dial } from '../dial.ts';
import { callbackAnswerBytesMax, challengeMsMax } from '../limits.ts';
import { Refusal } from '../refusal.ts';

/** Asks a callback address to echo a word. If the address does not echo it in time, the create is refused. */
export async function checkCallbackUrl(url: string, clock: Clock, stopped: AbortSignal): Promise<void> {
  const challenge = newToken();
  const { signal, release } = deadline(clock, challengeMsMax, stopped);
  try {
    const answer = await dial({ method: 'POST', url, json: { challenge }, bytesMax: callbackAnswerBytesMax, signal });
    if (answer.status === 200 && readEcho(answer.bytes) === challenge) return;
  } catch {
    // The vendor refuses an unreachable, a slow and an unreadable address in the same way.
  } finally {
    release();
  }
  throw new Refusal({ http: 400, type: 'bad_request_error', code: 2013, text: 'fail to check callback url' });
}

function readEcho(bytes: Buffer): unknown {
  const answer: unknown = JSON.parse(bytes.toString('utf8'));
  return typeof answer === 'object' && answer !== null && 'challenge' in answer ? answer.challenge : undefined;
}
