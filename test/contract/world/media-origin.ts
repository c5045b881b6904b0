import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { readWhole, startTestServer } from '@reelgate/platform/testing/test-server';
import { REFUSING } from './refusing-upstreams.ts';

const FIXTURES = path.join(import.meta.dirname, '../../../services/media/testing/fixtures');
const TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.mp4': 'video/mp4',
  '.mov': 'video/quicktime',
  '.webm': 'video/webm',
  '.mp3': 'audio/mpeg',
};

/** A file of the suite's media. */
export const fixture = (name: string): Buffer => readFileSync(path.join(FIXTURES, name));
export const dataUrl = (name: string): string =>
  `data:${TYPES[path.extname(name)] ?? ''};base64,${fixture(name).toString('base64')}`;

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** A web server with good and bad media. It also receives callbacks, and is the upstream that refuses. */
export interface MediaOrigin {
  readonly host: string;
  readonly received: readonly Received[];
  stop(): Promise<void>;
}

type Give = (response: ServerResponse, host: string) => void;

const BAD: Readonly<Record<string, Give>> = {
  '/gone.png': (response) => response.writeHead(404).end('gone'),
  '/page.png': (response) => response.writeHead(200, { 'content-type': 'image/png' }).end('<html>sign in</html>'),
  '/drawing.svg': (response) =>
    response.writeHead(200, { 'content-type': 'image/svg+xml' }).end('<svg xmlns="http://www.w3.org/2000/svg"/>'),
  '/empty.png': (response) => response.writeHead(200, { 'content-type': 'image/png' }).end(),
  '/huge.png': (response) =>
    response.writeHead(200, { 'content-type': 'image/png', 'content-length': '99999999' }).end(),
  '/loop.png': (response) => response.writeHead(302, { location: '/loop.png' }).end(),
  '/inward.png': (response) => response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
  '/moved.png': (response, host) => response.writeHead(302, { location: `http://${host}/image.png` }).end(),
};

export async function startMediaOrigin(): Promise<MediaOrigin> {
  const received: Received[] = [];
  const { host, stop } = await startTestServer((request, response) => {
    void readWhole(request).then((bytes) => {
      const body = bytes.toString();
      const { pathname } = new URL(request.url ?? '/', 'http://origin');
      received.push({ method: request.method ?? '', path: pathname, body });
      answer(response, pathname, { body, host });
    });
  });
  return { host, received, stop };
}

function answer(
  response: ServerResponse,
  pathname: string,
  { body, host }: { readonly body: string; readonly host: string },
): void {
  const [, how = ''] = /^\/refuses\/([\w-]+)\//.exec(pathname) ?? [];
  const [status, refusal] = REFUSING[how] ?? [];
  const bad = BAD[pathname];
  if (status !== undefined) {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
    return;
  }
  if (bad !== undefined) bad(response, host);
  else if (pathname.startsWith('/callback/')) response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  else {
    const name = path.basename(pathname);
    const type = TYPES[path.extname(name)];
    if (type === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': type }).end(fixture(name));
  }
}
