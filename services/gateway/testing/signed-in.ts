import { call } from './http-call.ts';
import type { Answer } from './http-call.ts';
import { TOKEN } from './fake-services.ts';
import type { GatewayUnderTest } from './gateway-under-test.ts';

const OWN = { 'x-reelgate-console': '1', origin: 'https://gateway.example' };

/** A browser that is signed in at the client console. */
export interface SignedIn {
  /** The headers of its requests. */
  readonly headers: Readonly<Record<string, string>>;
  get(path: string): Promise<Answer>;
  send(method: 'POST' | 'DELETE', path: string, body?: object): Promise<Answer>;
}

/** Signs a token in. Paths are below `/console/api`. */
export async function signIn({ url }: Pick<GatewayUnderTest, 'url'>, token: string = TOKEN): Promise<SignedIn> {
  const answer = await call(url, 'POST', '/console/api/session', { token: null, headers: OWN, body: { token } });
  if (answer.status !== 200) throw new Error(`the token is not signed in: ${answer.text}`);
  const [cookie = ''] = (answer.headers['set-cookie']?.[0] ?? '').split(';');
  const headers = { ...OWN, cookie };
  const send = (method: string, path: string, body?: object): Promise<Answer> =>
    call(url, method, `/console/api${path}`, { token: null, headers, ...(body === undefined ? {} : { body }) });
  return { headers, send, get: (path) => send('GET', path) };
}
