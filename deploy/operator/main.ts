import { enableCompileCache } from 'node:module';

enableCompileCache();

// Imported here, so that the compile cache covers it: each call is quick.
const { runCommand } = await import('./run-command.ts');
process.exitCode = await runCommand(process.argv.slice(2), process.env);
