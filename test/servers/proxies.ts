import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { explainMissing } from './explain-missing.ts';
import { findProgram } from './find-program.ts';
import type { Launcher, RunningServer } from './launcher.ts';
import { newServerFolder } from './run-folder.ts';
import { startProcess } from './start-process.ts';

/** A proxy before the gateway, as the page for operators configures it. */
export interface Proxy extends Pick<Launcher, 'name' | 'missing'> {
  /** The name of its language in the page. */
  readonly language: string;
  /** Starts it with a snippet of the page before the gateway at `host:port`, without TLS. */
  start(snippet: string, gateway: string): Promise<RunningServer>;
}

/** The places of the snippets that every operator changes. */
const GATEWAY = '127.0.0.1:8080';
const SITE = 'gateway.example';
const TLS_LINES = /^ *ssl_certificate(_key)? .*\n/gm;

/** Replaces a text that the snippet must have. */
function replace(snippet: string, text: string, by: string): string {
  if (!snippet.includes(text)) throw new Error(`the snippet has no ${text}`);
  return snippet.replaceAll(text, by);
}

const url = (port: number): string => `http://127.0.0.1:${port}`;
const missing = (program: string) => () => explainMissing(program, program, () => findProgram(program));

export const nginx: Proxy = {
  name: 'nginx',
  language: 'nginx',
  missing: missing('nginx'),
  start: (snippet, gateway) => {
    const folder = newServerFolder('nginx');
    const file = path.join(folder, 'nginx.conf');
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${path.join(folder, name)};`,
    );
    return startProcess({
      program: findProgram('nginx') ?? 'nginx',
      folder,
      ready: /start worker processes/,
      url,
      args: (port) => {
        const site = replace(replace(snippet, GATEWAY, gateway), 'listen 443 ssl;', `listen 127.0.0.1:${port};`);
        writeFileSync(
          file,
          `daemon off; pid ${path.join(folder, 'nginx.pid')}; error_log stderr notice;\n` +
            `events {}\nhttp { access_log off; ${paths.join(' ')}\n${site.replace(TLS_LINES, '')}}\n`,
        );
        return ['-e', 'stderr', '-p', folder, '-c', file];
      },
    });
  },
};

export const caddy: Proxy = {
  name: 'Caddy',
  language: 'caddyfile',
  missing: missing('caddy'),
  start: (snippet, gateway) => {
    const folder = newServerFolder('caddy');
    const file = path.join(folder, 'Caddyfile');
    return startProcess({
      program: findProgram('caddy') ?? 'caddy',
      folder,
      ready: /serving initial configuration/,
      url,
      args: (port) => {
        const site = replace(replace(snippet, GATEWAY, gateway), SITE, url(port));
        writeFileSync(file, `{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\tstorage file_system ${folder}\n}\n${site}`);
        return ['run', '--config', file, '--adapter', 'caddyfile'];
      },
    });
  },
};
