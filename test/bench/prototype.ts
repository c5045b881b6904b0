import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * The smallest durable create: node:http and one row by node:sqlite. Creates that wait at the same moment share one
 * commit. A GET gives a fixed body.
 */
const PROGRAM = `
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { randomUUID } from 'node:crypto';
const database = new DatabaseSync(process.argv[1]);
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
database.exec('CREATE TABLE tasks (id TEXT PRIMARY KEY, body TEXT NOT NULL)');
const insert = database.prepare('INSERT INTO tasks (id, body) VALUES (?, ?)');
let waiting = [];
const commit = () => {
  const batch = waiting;
  waiting = [];
  database.exec('BEGIN');
  for (const [id, body] of batch) insert.run(id, body);
  database.exec('COMMIT');
  for (const [id, , response] of batch) send(response, { task_id: id });
};
const send = (response, body) => {
  const text = JSON.stringify(body);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
};
const shown = {
  id: randomUUID(), object: 'video', status: 'queued', model: 'Alpha-H3', progress: 0, created_at: 0,
  seconds: '5', size: '1280x720', metadata: {},
};
const server = createServer((request, response) => {
  if (request.method === 'GET') return send(response, shown);
  const parts = [];
  request.on('data', (part) => parts.push(part)).on('end', () => {
    const body = JSON.stringify(JSON.parse(Buffer.concat(parts).toString()));
    if (waiting.length === 0) setImmediate(commit);
    waiting.push([randomUUID(), body, response]);
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

export interface Prototype {
  readonly port: number;
  stop(): void;
}

/** Runs the prototype in a process of its own, like the product. */
export async function startPrototype(): Promise<Prototype> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-prototype-'));
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', PROGRAM, path.join(folder, 'tasks.sqlite')],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    port: Number(line.toString()),
    stop: () => {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
