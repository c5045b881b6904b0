import { findObjectAtEnd } from '../../services/gateway/src/json-bytes/find-objects.ts';
import { modelHider } from '../../services/gateway/src/json-bytes/hide-model.ts';
import { withModel } from '../../services/gateway/src/json-bytes/json-members.ts';
import { ROUNDS } from './load.ts';
import type { Line } from './table.ts';

const MS = 300;
const [FROM, TO] = ['some-model', 'upstream-model-2026'];
const parse = (bytes: Buffer): Record<string, unknown> => JSON.parse(bytes.toString()) as Record<string, unknown>;

/** The relay's work on JSON as bytes, for a short and a long text. The baseline is JSON.parse and JSON.stringify. */
export async function jsonBytesBench(): Promise<readonly Line[]> {
  return [512, 16 * 1024].flatMap((length) => {
    const text = 'word "quoted" \n'.repeat(length / 15);
    const request = Buffer.from(
      JSON.stringify({ model: FROM, temperature: 0.5, messages: [{ role: 'user', content: text }] }),
    );
    const answer = Buffer.from(
      JSON.stringify({
        id: 'chatcmpl-1',
        model: TO,
        choices: [{ index: 0, message: { role: 'assistant', content: text } }],
        usage: { prompt_tokens: 10, completion_tokens: 20 },
      }),
    );
    const { hide } = modelHider(FROM, TO);
    return [
      line(`name the upstream's model, ${request.length} bytes`, {
        figure: () => withModel(request, FROM, TO),
        baseline: () => Buffer.from(JSON.stringify({ ...parse(request), model: TO })),
      }),
      line(`read the usage and hide the model, ${answer.length} bytes`, {
        figure: () => [findObjectAtEnd(answer, 'usage'), hide(answer)],
        baseline: () => {
          const read = parse(answer);
          return [read['usage'], Buffer.from(JSON.stringify({ ...read, model: FROM }))];
        },
      }),
    ];
  });
}

function line(what: string, run: Readonly<Record<'figure' | 'baseline', () => unknown>>): Line {
  const best = { figure: 0, baseline: 0 };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const side of ['figure', 'baseline'] as const) best[side] = Math.max(best[side], rate(run[side]));
  return { what, figure: best.figure, baseline: best.baseline, unit: 'a ms' };
}

/** The number of runs in a millisecond. */
function rate(run: () => unknown): number {
  const start = performance.now();
  let count = 0;
  for (; performance.now() - start < MS; count += 1) run();
  return count / (performance.now() - start);
}
