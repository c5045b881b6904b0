import { connect, createServer } from 'node:net';

/** Leads each port of one address to the same port of another. Arguments: FROM TO PORT… */
export function forward(from: string, to: string, ports: readonly number[]): void {
  for (const port of ports)
    createServer({ allowHalfOpen: true }, (near) => {
      const far = connect({ host: to, port, allowHalfOpen: true });
      near.pipe(far).pipe(near);
      near.on('error', () => far.resetAndDestroy());
      far.on('error', () => near.resetAndDestroy());
      near.on('close', () => far.destroySoon());
      far.on('close', () => near.destroySoon());
    }).listen(port, from);
}

if (import.meta.main) {
  const [from = '', to = '', ...ports] = process.argv.slice(2);
  forward(from, to, ports.map(Number));
}
