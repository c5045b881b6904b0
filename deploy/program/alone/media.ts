import { startMedia } from '@reelgate/media/app';
import { mediaConfig } from '@reelgate/media/config';
import { checkedFoundation } from '../diagnosis/serve-diagnosis.ts';
import { watchPeers } from '../peers.ts';
import type { Started, Starting } from '../starting.ts';
import { serve } from './serve.ts';

/** Media in a process of its own. */
export async function mediaAlone(starting: Starting): Promise<Started> {
  const service = await startMedia(mediaConfig(starting.config.value), checkedFoundation(starting, 'media'), {
    identify: starting.identify('media'),
  });
  watchPeers(starting.foundation, {});
  await serve(starting, 'media', service);
  return { services: [service], greeting: [] };
}
