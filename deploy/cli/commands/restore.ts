import { StoreTooNew } from '@reelgate/platform/sql/schema-state';
import { readProgramConfig } from '../../program/config/program-config.ts';
import { restoreBackup } from '../backup/restore-backup.ts';
import { CommandFailed, WrongCall, defineCommand, readSingleId } from '../command.ts';
import { servicesOnPostgres } from '../service-stores.ts';
import { resolveTypedPath } from '../typed-path.ts';

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
        `this restores embedded stores, and PostgreSQL has those of: ${databases.join(', ')}; use pg_restore`,
      );
    try {
      const { made_at, files, lost } = await restoreBackup(config, folder, (text) => {
        terminal.progress(text);
      });
      terminal.clear();
      return {
        answer: { ok: true, data_dir: config.dataDir, made_at, files: files.length, lost },
        text: [
          `${config.dataDir}: ${files.length} files of ${made_at}`,
          'Start the program, then run reelgate ledger verify and reelgate media verify.',
        ].join('\n'),
      };
    } catch (error) {
      if (error instanceof StoreTooNew) throw new CommandFailed(`${folder}: ${error.message}`);
      throw error;
    }
  },
});
