import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';

enableCompileCache();

// As in the program, with which it shares compiled code: V8 refuses code that was compiled under other flags, and each
// would replace that of the other.
setFlagsFromString('--no-allocation-site-pretenuring');

// What is imported here is in the compile cache, so each call is quick.
await import('./caller-umask.ts');
const { runCommand } = await import('./run-command.ts');
process.exitCode = await runCommand(process.argv.slice(2), process.env);
