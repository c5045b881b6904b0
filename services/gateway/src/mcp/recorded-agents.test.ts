import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { aCompletedTask } from '../../testing/a-task.ts';
import { TOKEN } from '../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';

interface RecordedRequest {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly method: string; readonly params?: { readonly name?: string } };
}

/** Recorded requests of clients in other languages, without tokens and ids: they list tools, quote, order and wait. */
const RECORDED = JSON.parse(readFileSync(path.join(import.meta.dirname, 'recorded-agents.json'), 'utf8')) as Readonly<
  Record<string, readonly RecordedRequest[]>
>;

/** The result of an answer, which is JSON or the last of its events. */
function readResult(text: string): { readonly [name: string]: unknown } {
  const json = text.startsWith('{') ? text : (text.split('data: ').at(-1) ?? '');
  return (JSON.parse(json) as { readonly result: { readonly [name: string]: unknown } }).result;
}

test.each(Object.keys(RECORDED))('what %s sent is answered as it was', async (client) => {
  const under = await startGatewayUnderTest();
  const results: { readonly [name: string]: unknown }[] = [];
  let id = '';
  for (const { status, headers, body } of RECORDED[client]!) {
    // a wait for it ends at once
    if (id !== '') under.tasks.tasks.set(`demo/${id}`, { ...aCompletedTask(), id });
    const fill = (text: string): string => text.replaceAll('{{token}}', TOKEN).replaceAll('{{id}}', id);
    const answer = await fetch(`${under.url}/mcp`, {
      method: 'POST',
      headers: JSON.parse(fill(JSON.stringify(headers))) as Record<string, string>,
      body: fill(JSON.stringify(body)),
    });
    const text = await answer.text();

    expect([body.method, answer.status]).toEqual([body.method, status]);
    if (text === '') continue;
    const result = readResult(text);
    expect([body.method, result?.['isError']]).toEqual([body.method, undefined]);
    results.push(result);
    if (body.params?.name === 'video_create') ({ id } = result['structuredContent'] as { readonly id: string });
  }
  await under.stop();

  const tools = results.flatMap(({ tools: listed }) => (listed === undefined ? [] : [listed]));
  expect(tools.map((listed) => (listed as unknown[]).length)).toEqual([8]);
  expect(results.map(({ structuredContent }) => structuredContent)).toContainEqual(
    expect.objectContaining({ max_amount: '0.4', currency: 'USD' }),
  );
});
