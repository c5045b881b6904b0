import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { CallService } from '@reelgate/proto/billing/v1/call_service';
import type { Client } from '@reelgate/platform/rpc/service';

/** The money of calls, as far as a person decides over it here. */
export interface Calls {
  /** Ends what is still held for a call: as it stands, or given back. The first end stands. */
  end(callId: string, how: 'charged' | 'released'): Promise<void>;
}

const BASES = { charged: Basis.HOLD, released: Basis.RELEASED } as const;

export function callsClient(rpc: Client<typeof CallService>): Calls {
  return {
    end: async (callId, how) => {
      await rpc.settleCalls({ ends: [{ callId, basis: BASES[how] }], withoutSettlements: true });
    },
  };
}
