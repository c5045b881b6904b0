import type { Clock } from '@reelgate/platform/clock';
import { newKey } from '@reelgate/platform/ids';
import type { Random } from '@reelgate/platform/ids';
import type { MediaFacts } from '../../domain/media-facts.ts';
import type { MediaObject, Purpose } from '../../domain/media-object.ts';
import type { MediaStore, StoredUnder } from '../../store/media-store.ts';
import type { ReceivedFile } from '../../blobs/incoming.ts';
import { dropPin, keepFile } from './keep-file.ts';
import type { KeepFileDeps } from './keep-file.ts';

const ID_BYTES = 20;
/** The prefixes of ids. */
const PREFIXES: Readonly<Record<Purpose, string>> = {
  staged: 'med',
  inline: 'inl',
  result: 'vid',
  thumbnail: 'pic',
  last_frame: 'pic',
  private: 'prv',
};

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
  /** The pin and the reservation that the claim replaces. */
  readonly pin?: string | undefined;
  readonly upload?: string | undefined;
  /** The name that the caller chose, by default an id that cannot be guessed. */
  readonly id?: string | undefined;
}

/** Creates an object for stored content. Its id appears in links, so it is a secret of 160 bits and not a hash. */
export async function claimBlob(
  { store, clock, random }: ClaimDeps,
  { facts, lifetimeMs, id, ...claim }: Claim,
): Promise<MediaObject | undefined> {
  const now = clock.now();
  return store.addObject(
    {
      ...claim,
      id: id ?? newKey(PREFIXES[claim.purpose], ID_BYTES, random),
      createdAt: now,
      expiresAt: now + lifetimeMs,
    },
    facts,
  );
}

/** Stores a file and claims it. If the claim fails, the bytes are removed immediately. */
export async function claimFile(
  deps: KeepFileDeps & ClaimDeps,
  file: ReceivedFile,
  claim: Omit<Claim, 'blob' | 'pin'>,
): Promise<MediaObject | undefined> {
  const { blob, pin } = await keepFile(deps, file);
  let object: MediaObject | undefined;
  try {
    object = await claimBlob(deps, { ...claim, blob, pin });
    return object;
  } finally {
    if (object?.blob.sha256 !== blob.sha256) await dropPin(deps, pin);
  }
}
