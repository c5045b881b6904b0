import { setTimeout as wait } from 'node:timers/promises';
import { connectGrpc } from '@reelgate/platform/rpc/grpc/client';
import { Secret } from '@reelgate/platform/secret';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { callKey } from '../../deploy/program/keys/identities.ts';
import { freePorts } from './free-ports.ts';
import { newProgram } from './program.ts';
import type { Program, Shape } from './program.ts';
import { moneyAccount, RELAY_SIGNING_KEY, withRelay } from './relay-config.ts';
import { startRelayUpstream } from './relay-upstream/relay-upstream.ts';
import type { RelayUpstream } from './relay-upstream/relay-upstream.ts';

const SETTLE_TIMEOUT_MS = 60_000;
/** The credit of every account of a test. */
const CREDIT_NANOS = 10_000_000_000n;

export interface Money {
  /** In billionths. */
  readonly spent: bigint;
  readonly held: bigint;
}

/** The real program with channels for the synchronous routes, and their upstream. */
export interface RelayProgram {
  readonly program: Program;
  readonly upstream: RelayUpstream;
  /** The money that an account of `accounts` has spent of its ten units, and the money that is held. */
  money(account: string): Promise<Money>;
  /** The same once no money is held. */
  settled(account: string): Promise<Money>;
  end(): Promise<void>;
}

export interface RelayProgramOptions {
  readonly shape?: Shape;
  /** The bus, which four processes need. */
  readonly bus?: string | undefined;
  readonly accounts?: readonly string[];
  /** Settings of the gateway. */
  readonly gateway?: object;
}

export async function startRelayProgram({
  shape = 'one program',
  bus,
  ...options
}: RelayProgramOptions = {}): Promise<RelayProgram> {
  const upstream = await startRelayUpstream();
  const [nobody = 0] = await freePorts(1);
  const program = await newProgram(
    shape,
    { upstream: upstream.host, bus },
    withRelay({ ...options, upstream: upstream.host, nobody: `127.0.0.1:${nobody}` }),
  );
  await program.start();
  const billing = connectGrpc(
    program.config.billing.listen,
    callKey('operator', 'billing', new Secret(RELAY_SIGNING_KEY)),
  );
  const accounts = billing.client(AccountService);
  const money = async (name: string): Promise<Money> => {
    const { account } = await accounts.getAccount({ id: moneyAccount(name).id });
    return { spent: CREDIT_NANOS - (account?.balanceNanos ?? 0n), held: account?.heldNanos ?? 0n };
  };
  return {
    program,
    upstream,
    money,
    settled: async (name) => {
      const deadline = performance.now() + SETTLE_TIMEOUT_MS;
      for (;;) {
        const now = await money(name);
        if (now.held === 0n || performance.now() > deadline) return now;
        await wait(20);
      }
    },
    end: async () => {
      billing.close();
      await program.end();
      await upstream.stop();
    },
  };
}
