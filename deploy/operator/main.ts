import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import './caller-umask.ts';

enableCompileCache();

// As in the program, with which it shares compiled code: V8 refuses code that was compiled under other flags, and each
// would replace that of the other.
setFlagsFromString('--no-allocation-site-pretenuring');

// Imported here, so that the compile cache covers it: each call is quick.
const { runCommand } = await import('./run-command.ts');
process.exitCode = await runCommand(process.argv.slice(2), process.env);
