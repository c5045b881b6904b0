import type { Clock } from '@reelgate/platform/clock';
import type { Random } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import { Secret } from '@reelgate/platform/secret';
import { DEFAULT_ENDPOINT, toSecretOwnerId } from '../../domain/webhook.ts';
import type { SealedSecret } from '../../domain/webhook.ts';
import type { SecretStore } from '../../store/webhook-store.ts';
import type { Sealer } from './seal.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const HINT_CHARACTERS = 4;
const PAGE_MAX = 200;

export interface EndpointName {
  readonly accountId: string;
  readonly endpointId: string;
}

/** A new secret, and the same as it is stored. */
export interface NewSecret {
  readonly secret: Secret;
  readonly stored: SealedSecret;
}

/** The secrets that sign deliveries. */
export interface WebhookSecrets {
  /** Creates a secret, and does not store it. */
  make(name: EndpointName): NewSecret;
  /**
   * The secrets that sign the deliveries of an endpoint now, the newest first. The secret of `default` is created on
   * its first use. The list is empty if the endpoint is removed, or if no accepted key opens its secret.
   */
  openSecrets(accountId: string, endpointId: string): Promise<readonly Secret[]>;
  /** The same for several endpoints, by the owner of the secret. An endpoint without secrets is left out. */
  openManySecrets(names: readonly EndpointName[]): Promise<ReadonlyMap<string, readonly Secret[]>>;
}

export interface ResealDeps {
  readonly webhooks: SecretStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly log: Log;
}

export interface SecretDeps extends ResealDeps {
  readonly random: Random;
}

export function webhookSecrets(deps: SecretDeps): WebhookSecrets {
  const openManySecrets: WebhookSecrets['openManySecrets'] = async (names) => {
    const owners = new Map(names.map((name) => [toSecretOwnerId(name.accountId, name.endpointId), name]));
    const stored = await deps.webhooks.findSecrets([...owners.keys()]);
    const secrets = new Map<string, readonly Secret[]>();
    for (const [ownerId, name] of owners) {
      const found = stored.get(ownerId) ?? (await addDefault(deps, name));
      const signing = found === undefined ? [] : signingSecrets(deps, found);
      if (signing.length > 0) secrets.set(ownerId, signing);
    }
    return secrets;
  };
  return {
    make: (name) => newSecret(deps, name),
    openSecrets: async (accountId, endpointId) =>
      (await openManySecrets([{ accountId, endpointId }])).get(toSecretOwnerId(accountId, endpointId)) ?? [],
    openManySecrets,
  };
}

/** Two processes may add it at once: both then use the one that is stored. */
async function addDefault(deps: SecretDeps, name: EndpointName): Promise<SealedSecret | undefined> {
  if (name.endpointId !== DEFAULT_ENDPOINT) return undefined;
  return deps.webhooks.addSecret(newSecret(deps, name).stored);
}

function signingSecrets({ sealer, clock, log }: SecretDeps, { ownerId, sealed, old }: SealedSecret): readonly Secret[] {
  const secret = sealer.open(sealed, ownerId);
  if (secret === undefined) {
    log.error({ ownerId }, 'no accepted signing key opens the secret of a webhook endpoint; its owner can rotate it');
    return [];
  }
  const before = old === undefined || old.until <= clock.now() ? undefined : sealer.open(old.sealed, ownerId);
  return before === undefined ? [secret] : [secret, before];
}

function newSecret({ sealer, random, clock }: SecretDeps, { accountId, endpointId }: EndpointName): NewSecret {
  const bytes = new Uint8Array(SECRET_BYTES);
  random(bytes);
  const text = Buffer.from(bytes).toString('base64');
  const secret = new Secret(PREFIX + text);
  const ownerId = toSecretOwnerId(accountId, endpointId);
  const now = clock.now();
  return {
    secret,
    stored: {
      ownerId,
      accountId,
      sealed: sealer.seal(secret, ownerId),
      hint: `${PREFIX}${text.slice(0, HINT_CHARACTERS)}…${text.slice(-HINT_CHARACTERS)}`,
      createdAt: now,
      updatedAt: now,
    },
  };
}

/**
 * Seals anew the secrets of an older signing key, so that the older key can be given up, and drops old secrets that no
 * longer sign. Reads page by page, and leaves a secret alone that its owner rotates meanwhile. Returns how many it
 * wrote.
 */
export async function resealSecrets(deps: ResealDeps): Promise<number> {
  let written = 0;
  let after = '';
  let page: readonly SealedSecret[];
  do {
    page = await deps.webhooks.listSecrets(after, PAGE_MAX);
    for (const secret of page) if (await reseal(deps, secret)) written += 1;
    after = page.at(-1)?.ownerId ?? after;
  } while (page.length === PAGE_MAX);
  if (written > 0) deps.log.info({ written }, 'webhook secrets were sealed anew');
  return written;
}

async function reseal({ webhooks, sealer, clock, log }: ResealDeps, secret: SealedSecret): Promise<boolean> {
  const { ownerId, sealed, old } = secret;
  const kept = old !== undefined && old.until > clock.now() ? old : undefined;
  const isOldCurrent = kept === undefined ? old === undefined : sealer.isCurrent(kept.sealed);
  if (sealer.isCurrent(sealed) && isOldCurrent) return false;
  const current = resealText(sealed);
  if (current === undefined) {
    log.error({ ownerId }, 'no accepted signing key opens the secret of a webhook endpoint; its owner can rotate it');
    return false;
  }
  const before = kept && resealText(kept.sealed);
  return webhooks.replaceSecret(
    {
      ...secret,
      sealed: current,
      old: kept === undefined || before === undefined ? undefined : { sealed: before, until: kept.until },
    },
    sealed,
  );

  function resealText(text: string): string | undefined {
    const opened = sealer.open(text, ownerId);
    return opened && sealer.seal(opened, ownerId);
  }
}
