import { streamPermits } from '../../operations/stream-permits.ts';
import type { StreamPermits } from '../../operations/stream-permits.ts';

const STREAMS_MAX = 500;
const STREAMS_PER_SESSION_MAX = 4;

/** Bounds the open streams of both consoles: in all, and of each token or operator. */
export function consoleStreamPermits(total = STREAMS_MAX, perHolder = STREAMS_PER_SESSION_MAX): StreamPermits {
  return streamPermits({
    total,
    perHolder,
    refusals: {
      holder: `${perHolder} pages follow changes already, which is the limit for one token or operator; close one`,
      maker:
        `${perHolder} pages follow changes already, which is the limit for the token that made this one ` +
        'and all that it made; close one',
      gateway: `the gateway has ${total} open pages that follow changes, which is its limit; try again`,
    },
  });
}
