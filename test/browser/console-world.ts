import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { freePorts } from '../harness/free-ports.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { startWebhookReceiver } from '../harness/webhook-receiver.ts';
import type { WebhookReceiver } from '../harness/webhook-receiver.ts';
import { startBrowser } from './browser.ts';
import type { Visit, VisitOptions } from './browser.ts';

export const OPERATORS = {
  viewer: 'viewer-key-0123456789abcdefghijkl',
  operator: 'operator-key-0123456789abcdefghijkl',
  treasurer: 'treasurer-key-0123456789abcdefghijkl',
} as const;

/** A task of an unknown upstream status waits for a person soon. */
const TASKS = { poll: { first: '200ms', factor: 1.5, max: '500ms', soft_deadline: '2s' } };

type WithAdminUrl = TestConfig['gateway'] & { readonly admin_url?: string };

/** The longest wait for the text of a page that failed. */
const SHOWN_MS = 2000;

/** A channel of the synchronous routes, for an asynchronous call. */
const RELAY = {
  id: 'relay-of-the-test',
  adapter: 'relay',
  api_key: UPSTREAM_KEY,
  endpoints: ['chat'],
  models: { 'sandbox-chat': 'echo-1' },
};

/** The whole program with its sandbox, a receiver of webhooks, and a browser. */
export interface ConsoleWorld {
  readonly program: Program;
  readonly receiver: WebhookReceiver;
  readonly origins: { readonly client: string; readonly operator: string };
  visit(door: 'client' | 'operator', options?: Omit<VisitOptions, 'origin'>): Promise<Visit>;
  /** A visit that is signed in, at the first page. */
  signedIn(door: 'client' | 'operator', key: string, options?: Omit<VisitOptions, 'origin'>): Promise<Visit>;
  /** A call of the public API with a token. */
  api(
    path: string,
    how?: { readonly method?: string; readonly body?: object; readonly token?: string },
  ): Promise<ReturnType<typeof JSON.parse>>;
  stop(): Promise<void>;
}

/** The settings are those of the channel of the videos. `change` changes the configuration. */
export async function startConsoleWorld(
  channel: object = {},
  change: (config: TestConfig) => TestConfig = (config) => config,
): Promise<ConsoleWorld> {
  const [port = 0] = await freePorts(1);
  const upstream = `127.0.0.1:${port}`;
  const receiver = await startWebhookReceiver();
  const sandbox: Sandbox = await startSandbox({ listen: upstream, key: UPSTREAM_KEY });
  const program = await newProgram('one program', { upstream, tasks: TASKS, channel }, (config) => ({
    ...change(config),
    webhooks: { allow: [receiver.host] },
    channels: [...config.channels, { ...RELAY, base_url: `http://${upstream}` }] as typeof config.channels,
    prices: {
      ...config.prices,
      'sandbox-chat': { per_million_tokens: { input: '0.50', output: '1.50' }, hold: '0.05' },
    },
    operators: Object.entries(OPERATORS).map(([name, key]) => ({ name, key, role: name })),
    accounts: config.accounts.map((account) => ({
      ...account,
      tokens: account.tokens.map((token) =>
        token.key === KEYS.demo ? { ...token, name: 'demo', tokens: 'write' } : token,
      ),
    })) as typeof config.accounts,
  }));
  await program.start();
  const browser = await startBrowser();
  const { admin, admin_url: adminUrl = `http://${admin}` } = program.config.gateway as WithAdminUrl;
  const origins = { client: program.base, operator: adminUrl };
  const visit: ConsoleWorld['visit'] = (door, options = {}) => browser.visit({ ...options, origin: origins[door] });
  return {
    program,
    receiver,
    origins,
    visit,
    signedIn: async (door, key, options) => {
      const opened = await visit(door, options);
      try {
        await opened.page.goto(`${origins[door]}/console`);
        await opened.page.getByLabel(door === 'client' ? 'Token' : 'Operator key').fill(key);
        await opened.page.getByRole('button', { name: 'Sign in' }).click();
        await opened.page.getByRole('navigation').waitFor();
        return opened;
      } catch (error) {
        const shown = await opened.page.locator('body').innerText({ timeout: SHOWN_MS }).catch(String);
        await opened.close();
        throw new Error(`the sign-in failed; faults: ${opened.faults.join('; ')}; the page: ${shown}`, {
          cause: error,
        });
      }
    },
    api: async (path, { method = 'GET', body, token = KEYS.demo } = {}) => {
      const answer = await fetch(program.base + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return answer.json();
    },
    stop: async () => {
      await browser.stop();
      await program.end();
      await sandbox.stop();
      await receiver.stop();
    },
  };
}
