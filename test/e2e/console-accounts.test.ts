import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { httpCaller } from '../harness/client.ts';
import type { Answer } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { createToken } from '../harness/records.ts';
import { KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const TIMEOUT_MS = 120_000;
const HOUR_MS = 3_600_000;
/** Nothing listens there: no test of this file submits work. */
const NO_UPSTREAM = '127.0.0.1:9';
const ADA = { name: 'ada', key: 'operator-key-of-ada-for-the-accounts', role: 'treasurer' };
const FORM = { name: 'batch', models: ['Beta-V1'], webhooks: 'read', tokens: 'none' };

function withConsoles(config: TestConfig): TestConfig {
  const accounts = config.accounts.map((account) => ({
    ...account,
    tokens: account.tokens.map((token) => ({ ...token, tokens: 'write' })),
  }));
  return { ...config, operators: [ADA], accounts } as TestConfig;
}

/** Sends a call of a page of the operator console, and returns its answer. */
async function askRpc(browser: Browser, rpc: string, request: object): Promise<Answer['json']> {
  const { json } = await browser('POST', '/calls', { calls: [{ rpc, request }] });
  return json.answers[0];
}

/** A browser at one of the consoles. */
type Browser = (method: string, path: string, body?: object) => Promise<Answer>;

async function signIn(base: string, credential: object): Promise<Browser> {
  const { call } = httpCaller(base, undefined);
  const own = { origin: base, 'x-reelgate-console': '1' };
  const session = await call('POST', '/console/api/session', credential, own);
  if (session.status !== 200) throw new Error(`nothing is signed in: ${session.text}`);
  const [cookie = ''] = (session.headers.get('set-cookie') ?? '').split(';');
  return (method, path, body) => call(method, `/console/api${path}`, body, { ...own, cookie });
}

function suite(shape: Shape, bus?: () => string): void {
  let program: Program;
  beforeAll(async () => {
    program = await newProgram(shape, { upstream: NO_UPSTREAM, bus: bus?.() }, withConsoles);
    await program.start();
    await program.ready();
  }, TIMEOUT_MS);
  afterAll(() => program?.end(), TIMEOUT_MS);

  const atConsole = (token: string): Promise<Browser> => signIn(program.base, { token });
  const asOperator = (): Promise<Browser> => signIn(`http://${program.config.gateway.admin}`, { key: ADA.key });

  test(
    'a token makes a token that can do no more than itself, and ends it for programs and for the console at once',
    async () => {
      const demo = await atConsole(KEYS.demo);
      const made = (await demo('POST', '/tokens', FORM)).json;
      const client = httpCaller(program.base, made.key);
      const models = await client.call('GET', '/v1/models');
      const session = await atConsole(made.key);
      const before = await session('GET', '/me');
      const others = await (await atConsole(KEYS.other))('DELETE', `/tokens/${made.token.id}`);
      await demo('DELETE', `/tokens/${made.token.id}`);

      expect(models.json.data).toMatchObject([{ id: 'Beta-V1' }]);
      expect(before.json).toMatchObject({ accountId: 'demo', tokenName: 'batch', webhooks: 'read', tokens: 'none' });
      expect({ status: others.status, code: others.json.error.code }).toEqual({ status: 404, code: 'token_not_found' });
      expect((await client.call('GET', '/v1/models')).status).toBe(403);
      expect((await session('GET', '/me')).status).toBe(403);
    },
    TIMEOUT_MS,
  );

  test(
    'the command line revokes a token with all that it made, and counts it',
    async () => {
      const maker = await createToken(program, 'demo', '--tokens', 'write');
      const made = (await (await atConsole(maker.key))('POST', '/tokens', FORM)).json;
      const alone = await program.command('token', 'revoke', maker.id);
      const { status } = await httpCaller(program.base, made.key).call('GET', '/v1/models');
      const all = await program.command('token', 'revoke', maker.id, '--with-made');
      const again = await program.command('token', 'revoke', maker.id, '--with-made');

      expect({ status, alone: alone.json }).toEqual({
        status: 200,
        alone: expect.objectContaining({ madeRevoked: 0 }),
      });
      expect([all.json, again.json]).toMatchObject([{ madeRevoked: 1 }, { madeRevoked: 0 }]);
    },
    TIMEOUT_MS,
  );

  test(
    'a token that may only wait in the class batch makes none of a better class, until an operator changes it',
    async () => {
      const flags = ['--tokens', 'write', '--wait', 'own_limit', '--class', 'batch'];
      const { id, key } = await createToken(program, 'demo', ...flags);
      const browser = await atConsole(key);
      const refused = await browser('POST', '/tokens', FORM);
      const changed = await program.command(
        'token',
        'limit',
        id,
        '--none',
        '--wait',
        'channels',
        '--class',
        'standard',
      );
      const made = await browser('POST', '/tokens', FORM);

      expect({ status: refused.status, param: refused.json.error.param }).toEqual({ status: 400, param: 'class' });
      expect(changed.json).toMatchObject({
        token: { queue: { wait: 'TOKEN_WAIT_CHANNELS', class: 'TOKEN_CLASS_STANDARD' } },
      });
      expect(made.json.token.queue).toEqual({ wait: 'channels', class: 'standard' });
    },
    TIMEOUT_MS,
  );

  test(
    'a token cannot give a model that it does not have itself',
    async () => {
      const narrow = await atConsole(KEYS.narrow);
      const { status, json } = await narrow('POST', '/tokens', { ...FORM, models: ['Alpha-H3'] });

      expect({ status, param: json.error.param }).toEqual({ status: 400, param: 'models' });
    },
    TIMEOUT_MS,
  );

  test(
    'a repeated click credits an account once, and the act has the name of the operator',
    async () => {
      const ada = await asOperator();
      const credit = { id: 'other', amountNanos: '5250000000', reason: 'an invoice', requestId: 'click-0001' };
      const book = (request: object) => askRpc(ada, 'billing.AccountService/CreditAccount', request);
      await book(credit);
      const { answer } = await book(credit);
      const { refusal } = await book({ ...credit, amountNanos: '6000000000' });
      const { credits } = (await askRpc(ada, 'billing.AccountService/ListCredits', { accountId: 'other' })).answer;
      const { acts } = (await askRpc(ada, 'billing.AccountService/ListActs', { subject: 'other' })).answer;

      expect(answer.account).toMatchObject({ balanceNanos: '105250000000', currency: 'USD' });
      expect({ status: refusal.status, param: refusal.error.param }).toEqual({ status: 409, param: 'request_id' });
      expect(acts).toMatchObject([{ actor: 'ada', action: 'account_credited', reason: 'an invoice' }]);
      expect(credits).toMatchObject([{ amountNanos: '5250000000', actor: 'ada' }, { amountNanos: '100000000000' }]);
    },
    TIMEOUT_MS,
  );

  test(
    'an operator makes, limits and revokes a token, and sees the books checked',
    async () => {
      const ada = await asOperator();
      const created = await askRpc(ada, 'billing.AccountService/CreateToken', {
        ...{ accountId: 'demo', name: 'batch', models: ['Beta-V1'], limitNanos: '2000000000' },
      });
      const { id } = created.answer.token;
      const limited = await askRpc(ada, 'billing.AccountService/UpdateTokenLimits', {
        ...{ id, limits: { inFlight: 2 }, reason: 'a new plan' },
      });
      const revoked = await askRpc(ada, 'billing.AccountService/RevokeToken', { id });
      const check = await askRpc(ada, 'billing.AccountService/VerifyLedger', {});
      const day = { from: new Date().toISOString(), to: new Date(Date.now() + HOUR_MS).toISOString() };
      const money = await askRpc(ada, 'billing.AccountService/GetMoney', day);

      expect(limited.answer.token).toMatchObject({ id, limits: { inFlight: 2 } });
      expect(limited.answer.token).not.toHaveProperty('limitNanos');
      expect(revoked.answer).toMatchObject({ token: { revokedAt: expect.any(String) }, madeRevoked: 0 });
      expect(check.answer).toMatchObject({ ok: true, faults: [] });
      expect(money.answer.lastCheck).toMatchObject({ ok: true, actor: 'ada', entries: check.answer.entries });
    },
    TIMEOUT_MS,
  );
}

describe('in one program', () => {
  suite('one program');
});
describeWith(natsServer, 'over four processes', (bus) => {
  suite('four processes', bus);
});
