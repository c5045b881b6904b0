import { enableCompileCache } from 'node:module';

enableCompileCache();

// The rest is loaded behind the cache, which makes each call quick.
const { runCommand } = await import('./run-command.ts');
process.exitCode = await runCommand(process.argv.slice(2), process.env);
