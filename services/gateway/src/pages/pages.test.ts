import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dialects } from '../dialects/index.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { expectGoldenDocument } from '../../testing/golden.ts';
import { call } from '../../testing/http-call.ts';
import { listMethods, toShownPath } from './document.ts';
import { readDocument } from '../../testing/openapi/document.ts';
import { gatewayRoutes } from '../gateway-routes.ts';
import { mcpRoute } from '../mcp/mcp-route.ts';

let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGatewayUnderTest({ batches: true });
});
afterAll(() => under.stop());

const get = (path: string) => call(under.url, 'GET', path, { token: null });

/** A failure shows why there is no document, and no golden file is written from the answer. */
async function getOpenApi() {
  const { status, text, json } = await get('/openapi.json');
  expect({ status, errors: under.errors }).toEqual({ status: 200, errors: [] });
  return { text, json };
}

describe('the OpenAPI document', () => {
  test('is as in the golden file', async () => {
    await expectGoldenDocument('openapi', (await getOpenApi()).json);
  });
  test('says nothing of what upstreams charge', async () => {
    expect(JSON.stringify((await getOpenApi()).json)).not.toMatch(/upstream_?cost|micro_?usd|reported_?cost/i);
  });
  test('names every operation once, and every parameter of a path', async () => {
    const { operations } = readDocument((await getOpenApi()).json);
    const ids = operations.map(({ operationId }) => operationId);

    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, parameters } of operations) {
      expect(parameters.filter(({ in: place }) => place === 'path').map(({ name }) => name)).toEqual(
        [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      );
    }
  });
  test('has valid schemas, which accept the examples of the contract', async () => {
    const document = (await getOpenApi()).json;
    const ajv = new Ajv2020({
      strict: false,
      discriminator: true,
      allErrors: true,
      formats: { binary: true, date: true, 'date-time': true },
    });
    ajv.addSchema(document, 'openapi');
    for (const name of Object.keys(document.components.schemas))
      expect(ajv.getSchema(`openapi#/components/schemas/${name}`)).toBeDefined();
    const check = (name: string, value: unknown): boolean =>
      ajv.getSchema(`openapi#/components/schemas/${name}`)!(value) as boolean;

    const video = { model: 'Alpha-H3', content: [{ type: 'text', text: 'x' }], duration: 5, resolution: '768P' };
    expect(check('VideoGeneration', { ...video, ratio: '16:9' })).toBe(true);
    expect(check('VideoGeneration', { ...video, prompt: 'x' })).toBe(false);
    expect(check('VideoCreate', { model: 'Alpha-H3', prompt: 'x', anything: 1 })).toBe(true);
    for (const nothing of [{}, { model: 'Alpha-H3' }, { model: 'Alpha-H3', prompt: ' ' }, { prompt: 'x' }])
      expect(check('VideoCreate', nothing)).toBe(false);
    expect(check('Error', { error: { message: 'x', type: 'y', param: null, code: 'z' } })).toBe(true);
  });
  test('has no dangling reference', async () => {
    const { text, json } = await getOpenApi();

    for (const [, kind, name] of text.matchAll(/"#\/components\/(\w+)\/([^"]*)"/g)) {
      expect(name).toMatch(/^\w+$/);
      expect(json.components[kind!]).toHaveProperty(name!);
    }
  });
  test('has exactly the routes that do something, without the documentation pages and the callbacks', async () => {
    const { paths } = (await getOpenApi()).json as { paths: Record<string, Record<string, object>> };
    const named = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const agentTools = [mcpRoute({} as never)];
    const mounted = gatewayRoutes(dialects, {} as never, under.url, { hasBatches: true, agentTools })
      .filter(({ kind, doc }) => kind !== 'unsupported' && doc.tag !== 'Documentation' && doc.tag !== 'Internal')
      .flatMap((route) => listMethods(route).map((method) => `${method} ${toShownPath(route)}`));

    expect(named.toSorted()).toEqual(mounted.toSorted());
  });
  test('names the answers that every operation can have', async () => {
    const { operations } = readDocument((await getOpenApi()).json);

    for (const { security, requestBody, responses } of operations) {
      const expected = [
        '500',
        '503',
        ...(security.length === 0 ? [] : ['401', '403', '429']),
        ...(requestBody === undefined ? [] : ['400', '413', '415']),
      ];
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(expected));
    }
  });
});

describe('the address of the service itself', () => {
  const home = (accept: string | undefined) =>
    call(under.url, 'GET', '/', { token: null, headers: accept === undefined ? {} : { accept } });

  test.each(['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'])(
    'shows a browser (%s) a page with links to the documentation',
    async (accept) => {
      const { status, headers, text } = await home(accept);

      expect([status, headers['content-type'], headers['vary']]).toEqual([200, 'text/html; charset=utf-8', 'accept']);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
      expect(text).toContain('href="./docs"');
      expect(text).toContain('href="./openapi.json"');
      expect(text).not.toMatch(/https?:|<script/);
    },
  );
  test.each([undefined, '*/*', 'application/json', 'text/csv'])(
    'tells a program (%s) its name, version and links that exist',
    async (accept) => {
      const { status, headers, json } = await home(accept);
      const { paths, info } = (await getOpenApi()).json;

      expect([status, headers['content-type'], headers['vary']]).toEqual([
        200,
        'application/json; charset=utf-8',
        'accept',
      ]);
      expect(json).toMatchObject({ name: 'Reelgate', version: info.version });
      expect(json.links).toEqual({
        documentation: 'https://gateway.example/docs',
        openapi: 'https://gateway.example/openapi.json',
        llms: 'https://gateway.example/llms.txt',
        models: 'https://gateway.example/v1/models',
      });
      expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/', '/v1/models']));
    },
  );
});

describe('the page', () => {
  test('has a policy that allows no other host', async () => {
    const { headers, text } = await get('/docs');

    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(headers['content-security-policy']).not.toMatch(/https?:|\*/);
    expect(text).not.toMatch(/https?:/);
    expect(text).not.toMatch(/<script>/);
  });
  test.each(['/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js', '/docs/start.js', '/docs/favicon-32x32.png'])(
    'has %s',
    async (path) => {
      const { status, headers, text } = await get(path);

      expect(status).toBe(200);
      expect(headers['content-type']).toMatch(/^(text\/(css|javascript)|image\/png)/);
      expect(text.length).toBeGreaterThan(100);
    },
  );
});

describe('the metrics', () => {
  const seen = async (
    settings: Parameters<typeof startGatewayUnderTest>[0],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<number> => {
    const other = await startGatewayUnderTest(settings);
    const { status } = await call(`http://127.0.0.1:${other.gateway.port}`, 'GET', '/metrics', {
      token: null,
      headers,
    });
    await other.stop();
    return status;
  };

  test('are shown on a loopback address to a local caller', async () => {
    expect(await seen({})).toBe(200);
  });
  test.each(['x-forwarded-for', 'forwarded', 'via'])('are not shown to a proxy (%s)', async (header) => {
    expect(await seen({}, { [header]: '10.0.0.1' })).toBe(404);
  });
  test('are not shown to a page of another site, whose name leads here', async () => {
    expect(await seen({}, { host: 'attacker.example' })).toBe(404);
  });
  test('are not shown on any other address', async () => {
    expect(await seen({ host: '0.0.0.0' })).toBe(404);
  });
  test('are not on the public port if there is an admin port', async () => {
    expect(await seen({ admin: '127.0.0.1:0' })).toBe(404);
  });
});
