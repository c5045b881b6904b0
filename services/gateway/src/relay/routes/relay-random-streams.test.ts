import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { openStream } from '../../../testing/open-stream.ts';
import { sse } from '../../../testing/relay-error-cases.ts';
import { withRelay } from '../../../testing/relay-under-test.ts';

const relay = withRelay();
const LONGER_THAN_A_PAUSE_MS = 60_000;

/** Everything that an upstream of chats sends, in its frames. */
const FRAMES = {
  comment: ': UP\n\n',
  role: sse({ choices: [{ delta: { role: 'assistant', content: '' }, finish_reason: null }] }),
  word: sse({ choices: [{ delta: { content: 'word' } }] }),
  tool: sse({ choices: [{ delta: { tool_calls: [{ function: { name: 'f' } }] } }] }),
  stop: sse({ choices: [{ delta: {}, finish_reason: 'stop' }] }),
  usage: sse({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 3 } }),
  done: sse('[DONE]'),
  error: sse({ error: { code: 502, message: 'lost' } }),
  failedChoice: sse({ choices: [{ delta: { content: '' }, finish_reason: 'error' }] }),
  errorText: 'event: error\ndata: lost\n\n',
  noise: 'data: no JSON\n\n',
} as const;
type FrameName = keyof typeof FRAMES;
const FAULTS: ReadonlySet<FrameName> = new Set(['error', 'failedChoice', 'errorText']);
const WORTH: ReadonlySet<FrameName> = new Set(['word', 'tool']);

/** The basis of the charge by the rules, told again without the code that applies them. */
function expectBasis(names: readonly FrameName[], isReset: boolean): Basis {
  const fault = names.findIndex((name) => FAULTS.has(name));
  const worth = names.findIndex((name) => WORTH.has(name));
  const isDelivered = worth >= 0 && (fault < 0 || worth < fault);
  const isEnded = names.includes('stop') || (worth >= 0 && names.includes('done', worth));
  if (isDelivered && (fault >= 0 || isReset || !isEnded)) return Basis.ESTIMATE;
  if (fault >= 0 || isReset || !isEnded) return Basis.RELEASED;
  if (names.includes('usage')) return Basis.USAGE;
  return isDelivered ? Basis.HOLD : Basis.RELEASED;
}

test('a stream of any events, in any pieces, is charged once, and never without a delivery', async () => {
  const names = fc.array(fc.constantFrom(...(Object.keys(FRAMES) as FrameName[])), { maxLength: 7 });
  await fc.assert(
    fc.asyncProperty(names, fc.boolean(), fc.integer({ min: 1, max: 200 }), async (sent, isReset, size) => {
      const bytes = sent.map((name) => FRAMES[name]).join('');
      for (const upstream of relay().upstreams)
        upstream.reply = (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
          for (let at = 0; at < bytes.length; at += size) response.write(bytes.slice(at, at + size));
          if (isReset) response.write('', () => response.destroy());
          else response.end();
        };
      const { calls, clock } = relay().gateway;
      // a circuit that has opened is tried again
      await clock.advance(LONGER_THAN_A_PAUSE_MS);
      calls.settled.length = 0;
      await (
        await openStream(relay().gateway.url, '/v1/chat/completions', {
          model: 'some-model',
          messages: [],
          stream: true,
        })
      ).ended;
      await relay().gateway.settled(1);
      await clock.advance(LONGER_THAN_A_PAUSE_MS);

      expect(calls.settled.map(({ basis }) => basis)).toEqual([expectBasis(sent, isReset)]);
    }),
    { numRuns: 100 },
  );
});
