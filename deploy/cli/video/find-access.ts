import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readProgramConfig } from '../../program/config/program-config.ts';
import type { ProgramConfig } from '../../program/config/program-config.ts';
import { CommandFailed, WrongCall } from '../command.ts';
import type { Services } from '../connect-services.ts';
import type { Environment } from '../environment.ts';
import { publicApi } from './public-api.ts';

interface KeptToken {
  readonly token: string;
  /** Forgets a token of this command line that the gateway refuses. Returns false for any other token. */
  forget(): boolean;
}

/** The address of the gateway, and a token for it. */
export interface Access extends KeptToken {
  readonly url: string;
  /** True for the program of the configuration. This command may read its ledger. */
  readonly isLocal: boolean;
}

export const ACCESS_OPTIONS = {
  url: { value: 'URL', means: 'the gateway; default: the public_url of the configuration' },
  token: {
    value: 'TOKEN',
    means: 'the site token; default: $REELGATE_TOKEN, else a token that the command creates and stores',
  },
} as const;

interface AccessOptions {
  readonly url?: string;
  readonly token?: string;
}

const TOKEN_NAME = 'command line';

/**
 * Finds the gateway and the token: by default the program of the configuration, and a token of its first account, as a
 * start prints it.
 */
export async function findAccess(
  { url, token: typed }: AccessOptions,
  { services, environment }: { readonly services: Services; readonly environment: Environment },
  stop: AbortSignal,
): Promise<Access> {
  const token = typed ?? (environment['REELGATE_TOKEN'] || undefined);
  if (url !== undefined) {
    if (!/^https?:\/\/\S+$/.test(url)) throw new WrongCall(`--url takes an http:// or https:// address, not ${url}`);
    if (token === undefined) throw new WrongCall('--url needs a token: give --token, or set REELGATE_TOKEN');
    return { url: url.replace(/\/$/, ''), token, isLocal: false, forget: () => false };
  }
  const config = readProgramConfig(environment);
  const found = { url: config.publicUrl, isLocal: true };
  if (!(await publicApi(found.url, '', stop).isReady()))
    throw new CommandFailed(`no gateway answers at ${found.url}; npm start starts one, and --url names another`);
  if (token !== undefined) return { ...found, token, forget: () => false };
  return { ...found, ...(await openOwnToken(config, services)) };
}

interface Account {
  readonly id: string;
  readonly tokens: readonly { readonly key?: string }[];
}

/**
 * Returns the first key in the configuration, or else the token of this command line, which is created at the first
 * use.
 */
async function openOwnToken(config: ProgramConfig, { accounts }: Services): Promise<KeptToken> {
  const [account] = (config.value as { readonly accounts: readonly Account[] }).accounts;
  if (account === undefined)
    throw new CommandFailed('the configuration has no account; give --token, or set REELGATE_TOKEN');
  const key = account.tokens.find((token) => token.key !== undefined)?.key;
  if (key !== undefined) return { token: key, forget: () => false };
  const file = path.join(config.dataDir, `command-line-token-${account.id}`);
  const forget = (): boolean => {
    rmSync(file, { force: true });
    return true;
  };
  const kept = readIfPresent(file);
  if (kept !== undefined) return { token: kept, forget };
  const made = await accounts.createToken({ accountId: account.id, name: TOKEN_NAME, models: ['*'] });
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(file, made.key, { mode: 0o600 });
  return { token: made.key, forget };
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'ENOENT') return undefined;
    throw error;
  }
}
