import type { Clock } from '@reelgate/platform/clock';
import type { Random } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import { Secret, deriveSecret } from '@reelgate/platform/secret';
import type { SigningKey, AcceptedKeys } from '@reelgate/platform/secret';
import { DEFAULT_ENDPOINT, toSecretOwnerId } from '../../domain/webhook.ts';
import type { SealedSecret } from '../../domain/webhook.ts';
import type { SecretStore } from '../../store/webhook-store.ts';
import { createCipheriv, createDecipheriv, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

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

const PURPOSE = 'webhook-secrets';
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NAME_CHARACTERS = 8;
const SEALED = /^(?<name>[\w-]{8})\.(?<bytes>[\w-]+)$/;

/** Encrypts secrets for the store. A sealed secret opens only for the owner that it was sealed for. */
export interface Sealer {
  seal(secret: Secret, ownerId: string): string;
  /** Undefined if no accepted key opens it. */
  open(sealed: string, ownerId: string): Secret | undefined;
  /** Reports whether the current signing key has sealed it. */
  isCurrent(sealed: string): boolean;
}

interface SealingKey {
  /** Identifies the key that sealed a secret, and reveals no part of it. */
  readonly name: string;
  /** A quarter of the processor time that its bytes would take, and it never prints them. */
  readonly key: KeyObject;
}

/** Seals with a key that is derived from the signing key, and opens with the keys of every accepted signing key. */
export function sealer({ signatures }: AcceptedKeys, random: Random): Sealer {
  const current = deriveSealingKey(signatures[0]);
  const accepted = signatures.map(deriveSealingKey);
  return {
    seal: (secret, ownerId) => {
      const nonce = new Uint8Array(NONCE_BYTES);
      random(nonce);
      const cipher = createCipheriv(CIPHER, current.key, nonce).setAAD(Buffer.from(ownerId));
      const text = Buffer.concat([cipher.update(secret.reveal(), 'utf8'), cipher.final()]);
      return `${current.name}.${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')}`;
    },
    open: (sealed, ownerId) => {
      const { name, bytes = '' } = SEALED.exec(sealed)?.groups ?? {};
      const key = accepted.find((one) => one.name === name);
      return key === undefined ? undefined : decryptSecret(key, Buffer.from(bytes, 'base64url'), ownerId);
    },
    isCurrent: (sealed) => SEALED.exec(sealed)?.groups?.['name'] === current.name,
  };
}

function decryptSecret({ key }: SealingKey, sealed: Buffer, ownerId: string): Secret | undefined {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  try {
    const cipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(ownerId))
      .setAuthTag(tag);
    return new Secret(
      cipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + cipher.final('utf8'),
    );
  } catch {
    // the text or its owner was changed
    return undefined;
  }
}

function deriveSealingKey(signingKey: SigningKey): SealingKey {
  const secret = deriveSecret(signingKey, PURPOSE);
  return {
    key: createSecretKey(secret.reveal(), 'base64url'),
    name: deriveSecret(secret, 'name').reveal().slice(0, NAME_CHARACTERS),
  };
}
