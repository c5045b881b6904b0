import { startMedia } from '@reelgate/media/app';
import { mediaConfig } from '@reelgate/media/config';
import { withChecks } from '../diagnosis/serve-diagnosis.ts';
import { watchPeers } from '../peers.ts';
import type { StartResult, StartParts } from '../start-parts.ts';
import { serve } from './serve-alone.ts';

/** Media in a process of its own. */
export async function startMediaAlone(starting: StartParts): Promise<StartResult> {
  const service = await startMedia(mediaConfig(starting.config.value), withChecks(starting, 'media'), {
    identify: starting.identify('media'),
  });
  watchPeers(starting.foundation, {});
  await serve(starting, 'media', service);
  return { services: [service], greeting: [] };
}
