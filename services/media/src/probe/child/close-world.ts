import { isBuiltin, registerHooks } from 'node:module';

/**
 * The modules of Node that the parsers load. Every other one is refused, those of the network first of all: the permission model has no word
 * for it. `child_process` is loaded by a library that looks for the C library; the permission model refuses every use of it.
 */
const OPEN: ReadonlySet<string> = new Set(['child_process', 'crypto', 'events', 'fs', 'fs/promises', 'module', 'os', 'path', 'stream', 'tty', 'util', 'buffer', 'url']);
const NETWORK_GLOBALS = ['fetch', 'WebSocket', 'EventSource', 'Request', 'Response'];

const plain = (specifier: string): string => specifier.replace(/^node:/, '');

registerHooks({
  resolve: (specifier, context, next) => {
    if (isBuiltin(specifier) && !OPEN.has(plain(specifier))) throw new Error('closed to parsers');
    return next(specifier, context);
  },
});
for (const name of NETWORK_GLOBALS) Reflect.deleteProperty(globalThis, name);
Reflect.deleteProperty(process, 'getBuiltinModule');
// what a library says of a file is for nobody, and the channel of the answers is standard output
globalThis.console = new Proxy(globalThis.console, { get: () => () => undefined });
