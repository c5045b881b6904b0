import path from 'node:path';
import { explainMissing } from './explain-missing.ts';
import { findProgram } from './find-program.ts';
import type { Launcher } from './launcher.ts';
import { newServerFolder } from './run-folder.ts';
import { startProcess } from './start-process.ts';

const PROGRAM = 'redis-server';

export const redisServer: Launcher = {
  name: 'Redis',
  missing: () => explainMissing(PROGRAM, 'redis-server', () => findProgram(PROGRAM)),
  start: async () => {
    const program = findProgram(PROGRAM);
    if (program === undefined) return undefined;
    const folder = newServerFolder('redis');
    return startProcess({
      program,
      folder,
      args: (port) => [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--dir',
        path.join(folder, 'data'),
        '--save',
        '',
        '--appendonly',
        'no',
      ],
      ready: /ready to accept connections/i,
      url: (port) => `redis://127.0.0.1:${port}`,
    });
  },
};
