import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export type DialAnswer = { readonly status: number; readonly bytes: Buffer };
export type Dial = {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly json?: unknown;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
};

/** Makes one request on a connection of its own, which closes after the answer. It follows no redirect. */
export function dial({ method, url, json, bytesMax, signal }: Dial): Promise<DialAnswer> {
  return new Promise((resolve, reject) => {
    const headers = json === undefined ? {} : { 'content-type': 'application/json' };
    const request = (url.toLowerCase().startsWith('https:') ? requestHttps : requestHttp)(url, {
      method,
      headers,
      agent: false,
      signal,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      let size = 0;
      response.on('error', reject);
      response.on('data', (part: Buffer) => {
        parts.push(part);
        size += part.length;
        if (size > bytesMax) response.destroy(new Error('the answer is too long'));
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes: Buffer.concat(parts) }));
    });
    request.end(json === undefined ? undefined : JSON.stringify(json));
  });
}
