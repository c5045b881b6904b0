import type { Clock } from '@reelgate/platform/clock';
import { newKey } from '@reelgate/platform/ids';
import type { Random } from '@reelgate/platform/ids';
import type { MediaFacts } from '../domain/media-facts.ts';
import type { MediaObject, Purpose } from '../domain/media-object.ts';
import type { MediaStore, StoredUnder } from '../store/media-store.ts';

const ID_BYTES = 20;
/** What the ids of each begin with. */
const PREFIXES: Readonly<Record<Purpose, string>> = { staged: 'med', inline: 'inl', result: 'vid', poster: 'pic', private: 'prv' };

export interface ClaimDeps {
  readonly store: MediaStore;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Claim {
  readonly accountId: string;
  readonly taskId: string;
  readonly purpose: Purpose;
  readonly reference: string;
  readonly blob: StoredUnder;
  readonly facts: MediaFacts | undefined;
  readonly lifetimeMs: number;
}

/** Makes an object of content that is kept. Links carry its id, so it is a secret of 160 bits rather than a hash that others could know. */
export async function claimBlob({ store, clock, random }: ClaimDeps, { facts, lifetimeMs, ...claim }: Claim): Promise<MediaObject | undefined> {
  const now = clock.now();
  return store.addObject({ ...claim, id: newKey(PREFIXES[claim.purpose], ID_BYTES, random), createdAt: now, expiresAt: now + lifetimeMs }, facts);
}
