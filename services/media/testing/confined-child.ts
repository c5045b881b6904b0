import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';

/* Tries everything that a parser's process must not be able to do, and prints what succeeded. */
const [secretFile = '', port = '', parent = '', own = ''] = process.argv.slice(2);
const isOpen = (act: () => unknown): boolean => {
  try {
    act();
    return true;
  } catch {
    return false;
  }
};
const isLoaded = (name: string): Promise<boolean> =>
  import(name).then(
    () => true,
    () => false,
  );

const connected = await new Promise((resolve) => {
  connect(Number(port), '127.0.0.1')
    .once('connect', () => {
      resolve(true);
    })
    .once('error', () => {
      resolve(false);
    });
});
const open = {
  environment: Object.keys(process.env).sort(),
  connected,
  secret: isOpen(() => readFileSync(secretFile)),
  root: isOpen(() => readdirSync('/')),
  parent: isOpen(() => readFileSync(`/proc/${parent}/environ`)),
  write: isOpen(() => {
    writeFileSync(`${secretFile}.new`, '');
  }),
  own: isOpen(() => {
    writeFileSync(`${own}/file`, '');
  }),
  child: isOpen(() => {
    const { error } = spawnSync('true');
    if (error !== undefined) throw error;
  }),
  worker: isOpen(() => new Worker('', { eval: true })),
  binding: isOpen(() => (process as unknown as { binding(name: string): unknown }).binding('tcp_wrap')),
  code: isOpen(() => Reflect.construct(Function, ['return 1'])),
};
await import('../src/probe/child/close-world.ts');
const modules = [
  'net',
  'node:tls',
  'node:dgram',
  'dns',
  'node:http',
  'node:https',
  'node:http2',
  'node:inspector',
  'node:worker_threads',
  'node:sqlite',
];
const loaded = (await Promise.all(modules.map(async (name) => ((await isLoaded(name)) ? [name] : [])))).flat();
process.stdout.write(
  JSON.stringify({ ...open, loaded, fetch: typeof fetch, builtin: typeof process.getBuiltinModule }),
);
