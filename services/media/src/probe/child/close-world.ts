import { isBuiltin, registerHooks } from 'node:module';

/**
 * The modules of Node that the parsers load. Every other module is refused, above all the network modules, because the
 * permission model does not cover the network. A library that detects the C library loads `child_process`, but the
 * permission model refuses every use of it.
 */
const OPEN: ReadonlySet<string> = new Set([
  'child_process',
  'crypto',
  'events',
  'fs',
  'fs/promises',
  'module',
  'os',
  'path',
  'stream',
  'tty',
  'util',
  'buffer',
  'url',
]);
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
// library output is discarded: standard output carries the answers
globalThis.console = new Proxy(globalThis.console, { get: () => () => undefined });
