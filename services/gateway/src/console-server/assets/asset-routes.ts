import { gzipSync } from 'node:zlib';
import type { Problem } from '@reelgate/platform/problem';
import type { Door } from '../../../console/routes.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { consoleDoc } from '../console-route.ts';
import type { Asset, Assets, DoorAssets } from './prepare-assets.ts';
import { renderShell } from './shell.ts';
import { refuse } from '../../refusals.ts';

const KEPT_FOR_GOOD = 'public, max-age=31536000, immutable';

/** The pages of one door, and the files that they load. Every address of a page has the same shell. */
export function assetRoutes(door: Door, load: () => Promise<DoorAssets>): RouteEntry[] {
  const assets = async (): Promise<Assets> => (await load())[door];
  const shell = async (exchange: Exchange): Promise<void> => {
    const { html, headers } = renderShell(await assets(), door, exchange.path);
    exchange.set(headers);
    exchange.type = 'text/html; charset=utf-8';
    exchange.vary('accept-encoding');
    if (exchange.acceptsEncodings('gzip', 'identity') === 'gzip') {
      exchange.set('content-encoding', 'gzip');
      exchange.body = gzipSync(html);
    } else exchange.body = html;
  };
  return [
    {
      kind: 'console',
      methods: ['GET'],
      path: '/console/a/{hash}/{+file}',
      handle: async (exchange) => {
        sendAsset(exchange, await assets());
      },
      doc: consoleDoc('getConsoleFile', 'Read a file of the console'),
    },
    {
      kind: 'console',
      methods: ['GET'],
      path: '/console',
      handle: shell,
      doc: consoleDoc('getConsole', 'Open the console'),
    },
    {
      kind: 'console',
      methods: ['GET'],
      path: '/console/{+page}',
      handle: (exchange) => {
        if (exchange.path.startsWith('/console/api/')) throw noSuchPath(exchange);
        return shell(exchange);
      },
      doc: consoleDoc('getConsolePage', 'Open a page of the console'),
    },
  ];
}

function sendAsset(exchange: Exchange, { hash, files }: Assets): void {
  const asset = exchange.params['hash'] === hash ? files.get(exchange.params['file'] ?? '') : undefined;
  if (asset === undefined) throw noSuchPath(exchange);
  const [encoding, bytes] = chooseEncoding(exchange, asset);
  exchange.set({
    'cache-control': KEPT_FOR_GOOD,
    'cross-origin-resource-policy': 'same-origin',
    vary: 'accept-encoding',
    ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
  });
  exchange.set('content-type', asset.type);
  exchange.body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function chooseEncoding(exchange: Exchange, { plain, gzip, brotli }: Asset): readonly [string | undefined, Uint8Array] {
  const accepted = exchange.acceptsEncodings('br', 'gzip', 'identity');
  if (accepted === 'br') return ['br', brotli];
  return accepted === 'gzip' ? ['gzip', gzip] : [undefined, plain];
}

function noSuchPath(exchange: Exchange): Problem {
  return refuse('not_found', { message: `no route at ${exchange.path.slice(0, 200)}` });
}
