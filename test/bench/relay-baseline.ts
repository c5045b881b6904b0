import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What a body has in it whose answer takes as long as a quick model does; without it an answer comes at once. */
export const UNHURRIED = 'take your time';
const UNHURRIED_MS = 10;

/** The least that an upstream can be: chat of a kilobyte, whole or in fifty events that each leave by themselves. */
const PROGRAM = `
import { createServer } from 'node:http';
const model = 'vendor-secret-model-2026';
const usage = { prompt_tokens: 150, completion_tokens: 50, total_tokens: 200 };
const text = 'the camera glides over the water. '.repeat(20);
const whole = Buffer.from(JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model, choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }], usage }));
const chunk = (choices, more = {}) => 'data: ' + JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices, ...more }) + '\\n\\n';
const events = [
  ...Array.from({ length: 50 }, (_, at) => chunk([{ index: 0, delta: { content: 'word ' + at }, finish_reason: null }])),
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]), chunk([], { usage }), 'data: [DONE]\\n\\n',
].map((event) => Buffer.from(event));
const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part)).on('end', () => {
    const body = Buffer.concat(parts);
    if (!body.includes('"stream":true')) {
      const answer = () => response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length }).end(whole);
      return body.includes('${UNHURRIED}') ? setTimeout(answer, ${String(UNHURRIED_MS)}) : answer();
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let at = 0;
    const next = () => {
      if (at === events.length) return response.end();
      response.write(events[at]);
      at += 1;
      setImmediate(next);
    };
    next();
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

export interface RelayBaseline {
  readonly port: number;
  stop(): void;
}

/** Runs it in a process of its own, as an upstream is. */
export async function startRelayBaseline(): Promise<RelayBaseline> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { port: Number(line.toString()), stop: () => child.kill('SIGKILL') };
}
