import { gatewayConfig, operatorsOf } from '@reelgate/gateway/config';
import type { HostPort } from '@reelgate/platform/config/units';
import { writeHostPort } from '@reelgate/platform/rpc/grpc/target';
import type { Secret, SigningKey } from '@reelgate/platform/secret';

/** The consoles that a gateway serves. */
interface Consoles {
  readonly isForClients: boolean;
  /** Undefined without an address for operators. */
  readonly operator: { readonly address: string; readonly isLocal: boolean } | undefined;
}

/** The consoles of the configuration. */
export function readConsoles(value: unknown, signingKey: SigningKey): Consoles {
  const config = gatewayConfig(value);
  const address = operatorsOf(config, signingKey).length > 0 ? consoleAddress(config.admin) : undefined;
  const isLocal = config.console.operators.length === 0;
  return {
    isForClients: config.console.isForClients,
    operator: address === undefined ? undefined : { address, isLocal },
  };
}

/** Returns the address at which operators open their console, or undefined if the gateway has no admin port. */
export function consoleAddress(admin: HostPort | undefined): string | undefined {
  return admin === undefined ? undefined : `http://${writeHostPort(admin)}/console`;
}

/**
 * Returns the lines that a start prints: the addresses, and at the first start the token and the first calls to try.
 */
export function greeting(
  url: string,
  newKeys: readonly { readonly account: string; readonly key: Secret }[],
  consoles: Consoles,
): readonly string[] {
  const [first] = newKeys;
  const lines = [
    `ready: ${url}`,
    ...newKeys.map(({ key }) => `token: ${key.reveal()}`),
    ...(consoles.isForClients ? [`console: ${url}/console`] : []),
    ...(consoles.operator === undefined ? [] : [`operator console: ${operatorLine(consoles.operator)}`]),
  ];
  return first === undefined ? lines : [...lines, ...firstCalls(url, first.key.reveal())];
}

function operatorLine({ address, isLocal }: NonNullable<Consoles['operator']>): string {
  return isLocal ? `${address} (its key: npm run -s reelgate -- console key)` : address;
}

function firstCalls(url: string, token: string): readonly string[] {
  const auth = `-H 'Authorization: Bearer ${token}'`;
  const json = "-H 'Content-Type: application/json'";
  const video = '{"model":"Alpha-H3","prompt":"a red boat at dawn","seconds":"4","size":"1280x720"}';
  const chat = '{"model":"sandbox-chat","messages":[{"role":"user","content":"hello"}],"stream":true}';
  return [
    '',
    'Create a video from another terminal, in this folder:',
    '  npm run -s reelgate -- video create "a red boat at dawn" -o boat.mp4',
    '',
    'The token is shown this once. The same over HTTP: create a task, wait for it, fetch the video:',
    `  curl -s ${url}/v1/videos ${auth} ${json} -d '${video}'`,
    `  curl -s ${url}/v1/videos/TASK_ID ${auth} -H 'Prefer: wait=60'`,
    `  curl -s ${url}/v1/videos/TASK_ID/content ${auth} -o video.mp4`,
    'A chat, as an OpenAI SDK sends it to this address and /v1:',
    `  curl -sN ${url}/v1/chat/completions ${auth} ${json} -d '${chat}'`,
    '',
    `Reference of every route: ${url}/docs`,
  ];
}
