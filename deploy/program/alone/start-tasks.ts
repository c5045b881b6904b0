import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { CallService } from '@reelgate/proto/billing/v1/call_service';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import { httpMediaBytes, startTasks } from '@reelgate/tasks/app';
import { tasksConfig } from '@reelgate/tasks/config';
import { withChecks } from '../diagnosis/serve-diagnosis.ts';
import { callKey } from '../keys/identities.ts';
import { connectPeers, watchPeers } from '../peers.ts';
import type { StartResult, StartParts } from '../start-parts.ts';
import { connect, secureContext } from './connect-service.ts';
import { serve } from './serve-alone.ts';

/** Tasks in a process of its own. */
export async function startTasksAlone(starting: StartParts): Promise<StartResult> {
  const { config } = starting;
  const foundation = withChecks(starting, 'tasks');
  const [billing, media] = [connect(starting, 'tasks', 'billing'), connect(starting, 'tasks', 'media')];
  const service = await startTasks(tasksConfig(config.value, config.publicUrl), foundation, {
    billing: billing.client(BillingService),
    calls: billing.client(CallService),
    media: media.client(MediaService),
    bytes: httpMediaBytes(
      config.services.mediaHttp,
      callKey('tasks', 'media', foundation.signingKey),
      secureContext(starting),
    ),
  });
  watchPeers(foundation, { billing, media });
  await connectPeers([billing, media]);
  await serve(starting, 'tasks', service);
  return { services: [service], greeting: [] };
}
