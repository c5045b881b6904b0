import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { CallService } from '@reelgate/proto/billing/v1/call_service';
import type { Client } from '@reelgate/platform/rpc/service';

/** The money of calls over which a person decides. */
export interface Calls {
  /** Charges or releases the hold of a call. The first end is final; returns which it was. */
  end(callId: string, how: 'charged' | 'released'): Promise<'charged' | 'released'>;
}

const BASES = { charged: Basis.HOLD, released: Basis.RELEASED } as const;

export function callsClient(rpc: Client<typeof CallService>): Calls {
  return {
    end: async (callId, how) => {
      const { settlements } = await rpc.settleCalls({ ends: [{ callId, basis: BASES[how] }] });
      const basis = settlements[0]?.basis ?? Basis.UNSPECIFIED;
      if (basis === Basis.UNSPECIFIED) return how;
      return basis === Basis.RELEASED ? 'released' : 'charged';
    },
  };
}
