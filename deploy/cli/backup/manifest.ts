import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { deriveSecret } from '@reelgate/platform/secret';
import type { SigningKey } from '@reelgate/platform/secret';
import { CommandFailed } from '../command.ts';
import { writeDurably } from './file-copies.ts';
import type { BackedUpFile } from './file-copies.ts';

const FORMAT = 1;
const FILE = 'manifest.json';
const KEY_PURPOSE = 'backup';
const DIGEST = /^[0-9a-f]{64}$/;

/** The contents of a backup. The manifest is written last, so a backup without it was cut off. */
export interface Manifest {
  readonly made_at: string;
  /** Distinguishes keys without revealing them. */
  readonly signing_key: string;
  /** True if the bytes of media are in the backup, false if they are in a bucket. */
  readonly has_blobs: boolean;
  readonly files: readonly BackedUpFile[];
  /** The storage keys of bytes that the running program had lost before. */
  readonly lost: readonly string[];
}

export function computeFingerprint(signingKey: SigningKey): string {
  return deriveSecret(signingKey, KEY_PURPOSE).reveal();
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await writeDurably(path.join(folder, FILE), JSON.stringify({ format: FORMAT, ...manifest }));
}

/** Refuses a folder that is not a complete backup. */
export function readManifest(folder: string): Manifest {
  const file = path.join(folder, FILE);
  if (!existsSync(file))
    throw new CommandFailed(
      existsSync(folder) && readdirSync(folder).length > 0
        ? `${folder}: has no ${FILE}; the backup was cut off, or this is no backup; expected a whole backup`
        : `${folder}: has no backup`,
    );
  const { format, ...manifest } = parseManifest(file);
  if (format !== FORMAT)
    throw new CommandFailed(
      `${file}: has the format ${String(format)}, and this release reads ${FORMAT}; use the release that wrote it`,
    );
  for (const one of manifest.files) assertInside(file, one);
  return manifest;
}

function parseManifest(file: string): Manifest & { readonly format: unknown } {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Manifest & { readonly format: unknown };
  } catch (error) {
    throw new CommandFailed(`${file}: cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
}

/** Refuses an entry that points outside the backup. */
function assertInside(manifest: string, { path: name, sha256 }: BackedUpFile): void {
  const isInside = path.normalize(name) === name && !path.isAbsolute(name) && !name.startsWith('..');
  if (!isInside || !DIGEST.test(sha256))
    throw new CommandFailed(`${manifest}: the entry ${name} is no file of a backup`);
}
