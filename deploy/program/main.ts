import { enableCompileCache } from 'node:module';
import { keepTickShape } from './runtime/tick-shape.ts';
import { setV8Flags } from './runtime/v8-flags.ts';

const END_MS = 1000;

enableCompileCache();

setV8Flags();

const { PRIVATE_UMASK } = await import('./data-folder/private-umask.ts');
process.umask(PRIVATE_UMASK);

// Before the first collection of the whole heap.
await keepTickShape();

// Imported here, so that the compile cache covers it: the second start is quick.
const { quickenMessageTexts } = await import('./runtime/message-texts.ts');
const { run } = await import('./run.ts');
quickenMessageTexts();
process.exitCode = await run(process.argv.slice(2), process.env, (code) => process.exit(code));
// A part that did not stop in time could keep the process alive.
setTimeout(() => process.exit(), END_MS).unref();
