import { warnIf } from './finding.ts';
import type { ComparedConfig, Finding } from './finding.ts';

const EVERY_MODEL = '*';

export function checkTokenModels({ accounts, channels }: ComparedConfig): readonly Finding[] {
  const known = new Set([EVERY_MODEL, ...channels.flatMap(({ models }) => Object.keys(models))]);
  return accounts.flatMap(({ tokens }, at) =>
    tokens.flatMap(({ models }, token) =>
      models.flatMap((model, index) =>
        warnIf(
          !known.has(model),
          ['accounts', at, 'tokens', token, 'models', index],
          `no channel has the model ${model}; expected a channel's model, or "*"`,
        ),
      ),
    ),
  );
}

export function checkGrantedAccounts({ accounts, channels }: ComparedConfig): readonly Finding[] {
  const known = new Set(channels.flatMap(({ upstream_account: account }) => account ?? []));
  return accounts.flatMap(({ upstream_accounts: granted }, at) =>
    granted.flatMap((name, index) =>
      warnIf(
        !known.has(name),
        ['accounts', at, 'upstream_accounts', index],
        `no channel has the upstream account ${name}; expected one of: ${[...known].join(', ')}`,
      ),
    ),
  );
}
