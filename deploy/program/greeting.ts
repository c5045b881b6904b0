import type { Secret } from '@reelgate/platform/secret';

/** What the person who started it reads: where it is, and at the first start the token and calls to try it with. */
export function greeting(
  url: string,
  newKeys: readonly { readonly account: string; readonly key: Secret }[],
): readonly string[] {
  const [first] = newKeys;
  const lines = [`ready: ${url}`, ...newKeys.map(({ key }) => `token: ${key.reveal()}`)];
  return first === undefined ? lines : [...lines, ...firstCalls(url, first.key.reveal())];
}

function firstCalls(url: string, token: string): readonly string[] {
  const auth = `-H 'Authorization: Bearer ${token}'`;
  return [
    '',
    'The token is shown this once. Make a video, look at it until it is completed, fetch it:',
    `  curl -s ${url}/v1/videos ${auth} -H 'Content-Type: application/json' -d '{"model":"Alpha-H3","prompt":"a red boat at dawn","seconds":"4","size":"1280x720"}'`,
    `  curl -s ${url}/v1/videos/TASK_ID ${auth} -H 'Prefer: wait=60'`,
    `  curl -s ${url}/v1/videos/TASK_ID/content ${auth} -o video.mp4`,
    "Or talk, as any SDK of OpenAI's would with this address and /v1:",
    `  curl -sN ${url}/v1/chat/completions ${auth} -H 'Content-Type: application/json' -d '{"model":"sandbox-chat","messages":[{"role":"user","content":"hello"}],"stream":true}'`,
    '',
    `The reference of every route: ${url}/docs`,
  ];
}
