import type { IncomingMessage, ServerResponse } from 'node:http';
import { isSigned } from '@reelgate/platform/signatures';
import type { Secret } from '@reelgate/platform/secret';
import { refuse, RESULT_EXPIRED } from './refuse.ts';
import type { Refusal } from './refuse.ts';
import { serveObject } from './serve-object.ts';
import type { ServeDeps, ServeOrder } from './serve-object.ts';

const PATH = /^\/ximg\/([A-Za-z0-9_-]{1,64})\.[a-z0-9]{1,8}$/;
const SECONDS = /^\d{1,12}$/;
const WRONG: Refusal = {
  status: 403,
  code: 'invalid_link',
  message: 'this link is not valid; get the task again for a new one',
};
const NO_SUCH_METHOD: Refusal = {
  status: 405,
  code: 'method_not_allowed',
  message: 'the method must be GET or HEAD',
  headers: { allow: 'GET, HEAD' },
};

export interface LinkDeps extends ServeDeps {
  readonly linkKeys: readonly Secret[];
}

/** Answers `/ximg/{object}.{ext}?exp&sig`, which needs the signature and no token. Returns false for another path. */
export async function serveLink(deps: LinkDeps, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  if (!(request.url ?? '').startsWith('/ximg/')) return false;
  const link =
    request.method === 'GET' || request.method === 'HEAD'
      ? readLink(deps, request.url ?? '')
      : { refusal: NO_SUCH_METHOD };
  if ('refusal' in link) refuse(request, response, link.refusal);
  else await serveObject(deps, request, response, link);
  return true;
}

function readLink({ linkKeys, clock }: LinkDeps, url: string): ServeOrder | { readonly refusal: Refusal } {
  const [path = '', query = ''] = url.split(/\?(.*)/s, 2);
  const object = PATH.exec(path)?.[1];
  const values = new URLSearchParams(query);
  const [exp, sig] = [onlyValue(values, 'exp'), onlyValue(values, 'sig')];
  if (object === undefined || !SECONDS.test(exp) || !isSigned(linkKeys, path, Number(exp), sig))
    return { refusal: WRONG };
  const expiresAt = Number(exp) * 1000;
  return expiresAt <= clock.now()
    ? { refusal: RESULT_EXPIRED }
    : { object, fileName: path.slice('/ximg/'.length), expiresAt };
}

/** Empty if there is no value, or more than one. */
function onlyValue(query: URLSearchParams, name: string): string {
  const [first = '', ...others] = query.getAll(name);
  return others.length === 0 ? first : '';
}
