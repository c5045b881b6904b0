import type { SealedSecret } from '../../domain/webhook.ts';
import type { WebhookDeps } from './webhook-deps.ts';

const PAGE_MAX = 200;

type Deps = Pick<WebhookDeps, 'webhooks' | 'sealer' | 'clock' | 'log'>;

/**
 * Seals anew what an older signing key sealed, so that the older key can be given up, and drops old secrets that no
 * longer sign. Reads page by page, and changes nothing that its owner rotates meanwhile. Returns how many it wrote.
 */
export async function resealSecrets(deps: Deps): Promise<number> {
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

async function reseal({ webhooks, sealer, clock, log }: Deps, secret: SealedSecret): Promise<boolean> {
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
