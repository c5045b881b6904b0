import type { HoldStory, Settlement } from '../../domain/hold.ts';

/** How the story ended, or that it waits for a person; undefined while the hold is simply open. */
export function settlementOf(story: HoldStory): Settlement | undefined {
  return story.state === 'open' ? story.deferral : story.settlement;
}
