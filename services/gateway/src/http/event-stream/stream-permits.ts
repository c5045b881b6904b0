import { streamPermits } from '../../operations/stream-permits.ts';
import type { StreamPermits } from '../../operations/stream-permits.ts';

const STREAMS_MAX = 500;
const STREAMS_PER_TOKEN_MAX = 8;

/** Bounds the event streams that are open: of the gateway, and of each token. */
export function openStreamPermits(total = STREAMS_MAX, perHolder = STREAMS_PER_TOKEN_MAX): StreamPermits {
  return streamPermits({
    total,
    perHolder,
    refusals: {
      holder: `a token may have ${perHolder} event streams open at the same time; close one first`,
      maker:
        'the token that made this one, and all that it made, ' +
        `may have ${perHolder} event streams open at the same time; close one first`,
      gateway: `the gateway has ${total} open event streams, which is its limit; try again`,
    },
  });
}
