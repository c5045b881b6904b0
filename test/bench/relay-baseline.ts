import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A body with these words is answered after 10 ms, like a quick model. A body without them is answered at once. */
export const UNHURRIED = 'take your time';
const UNHURRIED_MS = 10;

/** The smallest upstream: a chat answer of a kilobyte, whole or in fifty events, each in a write of its own. */
const PROGRAM = `
import { createServer } from 'node:http';
const model = 'vendor-secret-model-2026';
const usage = { prompt_tokens: 150, completion_tokens: 50, total_tokens: 200 };
const text = 'the camera glides over the water. '.repeat(20);
const head = { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model };
const choice = { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' };
const whole = Buffer.from(JSON.stringify({ ...head, choices: [choice], usage }));
const chunk = (choices, more = {}) =>
  'data: ' + JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more }) + '\\n\\n';
const word = (at) => chunk([{ index: 0, delta: { content: 'word ' + at }, finish_reason: null }]);
const events = [
  ...Array.from({ length: 50 }, (_, at) => word(at)),
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]), chunk([], { usage }), 'data: [DONE]\\n\\n',
].map((event) => Buffer.from(event));
const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part)).on('end', () => {
    const body = Buffer.concat(parts);
    if (!body.includes('"stream":true')) {
      const headers = { 'content-type': 'application/json', 'content-length': whole.length };
      const answer = () => response.writeHead(200, headers).end(whole);
      return body.includes('${UNHURRIED}') ? setTimeout(answer, ${UNHURRIED_MS}) : answer();
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

/** Runs the upstream in a process of its own. */
export async function startRelayBaseline(): Promise<RelayBaseline> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { port: Number(line.toString()), stop: () => child.kill('SIGKILL') };
}
