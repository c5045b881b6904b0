import path from 'node:path';
import { explainMissing } from './explain-missing.ts';
import { findProgram } from './find-program.ts';
import type { Launcher } from './launcher.ts';
import { newServerFolder } from './run-folder.ts';
import { startProcess } from './start-process.ts';

const PROGRAM = 'nats-server';

/** NATS with JetStream. */
export const natsServer: Launcher = {
  name: 'NATS',
  missing: () => explainMissing(PROGRAM, 'nats-server', () => findProgram(PROGRAM)),
  start: async () => {
    const program = findProgram(PROGRAM);
    if (program === undefined) return undefined;
    const folder = newServerFolder('nats');
    return startProcess({
      program,
      folder,
      args: (port) => [
        '--addr',
        '127.0.0.1',
        '--port',
        String(port),
        '--jetstream',
        '--store_dir',
        path.join(folder, 'data'),
      ],
      ready: /Server is ready/,
      url: (port) => `nats://127.0.0.1:${port}`,
    });
  },
};
