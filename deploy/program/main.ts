import { enableCompileCache } from 'node:module';

enableCompileCache();

// The rest is loaded behind the cache, which makes a second start quick.
const { run } = await import('./run.ts');
process.exitCode = await run(process.argv.slice(2), process.env);
