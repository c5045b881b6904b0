import { startBilling } from '@reelgate/billing/app';
import { billingConfig } from '@reelgate/billing/config';
import { withChecks } from '../diagnosis/serve-diagnosis.ts';
import { watchPeers } from '../peers.ts';
import type { StartResult, StartParts } from '../start-parts.ts';
import { serve } from './serve-alone.ts';

/** Billing in a process of its own. */
export async function startBillingAlone(starting: StartParts): Promise<StartResult> {
  const service = await startBilling(billingConfig(starting.config.value), withChecks(starting, 'billing'));
  watchPeers(starting.foundation, {});
  await serve(starting, 'billing', service);
  return { services: [service], greeting: service.newKeys.map(({ key }) => `token: ${key.reveal()}`) };
}
