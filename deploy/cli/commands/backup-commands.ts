import { StoreRefused } from '@reelgate/platform/sql/sql';
import { readProgramConfig } from '../../program/config/program-config.ts';
import { CommandFailed, WrongCall, defineCommand, readSingleId } from '../command.ts';
import type { Outcome } from '../command.ts';
import { asBytes } from '../format/quantities.ts';
import { servicesOnPostgres } from '../service-stores.ts';
import { resolveTypedPath } from '../environment.ts';

/** The command cannot help here, and the operator must use other programs. */
const NOT_HERE = 2;

export const backup = defineCommand({
  summary: 'back up the stores and media of the one program while it works; exit code 2 with PostgreSQL',
  words: 'DIR',
  options: {},
  example: 'backup /var/backups/reelgate/monday',
  run: async ({ words, environment, terminal }) => {
    const folder = resolveTypedPath(environment, readSingleId(words, 'folder'));
    const config = readProgramConfig(environment);
    const databases = servicesOnPostgres(config);
    if (databases.length > 0) return withPostgres(databases);
    // it needs the media service, which no other command does
    const { makeBackup } = await import('../backup/make-backup.ts');
    const { manifest, bytes } = await makeBackup(config, folder, (text) => terminal.progress(text));
    terminal.clear();
    const { files, lost, has_blobs: hasBlobs } = manifest;
    return {
      ok: lost.length === 0,
      answer: { ok: lost.length === 0, folder, made_at: manifest.made_at, files: files.length, bytes, lost },
      text: [
        `${folder}: ${files.length} files, ${asBytes(bytes)}`,
        ...(hasBlobs ? [] : ['media.blobs is a bucket: back it up after this, or keep its old versions']),
        ...lost.map((key) => `lost: ${key} was missing or damaged before the backup; see reelgate media verify`),
      ].join('\n'),
    };
  },
});

export const restore = defineCommand({
  summary: 'restore a backup into an empty data_dir, while the program is stopped',
  words: 'DIR',
  options: {},
  example: 'restore /var/backups/reelgate/monday',
  run: async ({ words, environment, terminal }) => {
    const folder = resolveTypedPath(environment, readSingleId(words, 'folder'));
    const config = readProgramConfig(environment);
    const databases = servicesOnPostgres(config);
    if (databases.length > 0)
      throw new WrongCall(
        `this restores embedded stores, but PostgreSQL has the stores of: ${databases.join(', ')}; use pg_restore`,
      );
    const { restoreBackup } = await import('../backup/restore-backup.ts');
    try {
      const { made_at, files, lost } = await restoreBackup(config, folder, (text) => terminal.progress(text));
      terminal.clear();
      return {
        answer: { ok: true, data_dir: config.dataDir, made_at, files: files.length, lost },
        text: [
          `${config.dataDir}: ${files.length} files of ${made_at}`,
          'Start the program, then run reelgate ledger verify and reelgate media verify.',
        ].join('\n'),
      };
    } catch (error) {
      if (error instanceof StoreRefused) throw new CommandFailed(`${folder}: ${error.message}`);
      throw error;
    }
  },
});

function withPostgres(databases: readonly string[]): Outcome {
  return {
    exitCode: NOT_HERE,
    answer: { ok: false, reason: 'postgres', databases },
    text: [
      `no file was copied: this backs up embedded stores, but PostgreSQL has the stores of: ${databases.join(', ')}`,
      'Restore all databases to the same moment if your PostgreSQL can (a snapshot of the volume, or the log up to a time).',
      'Otherwise run pg_dump for tasks first, then for billing, then for media, and copy the blobs last:',
      'billing and media must not be older than tasks. See the runbook in deploy/README.md.',
    ].join('\n'),
  };
}
