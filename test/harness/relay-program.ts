import { setTimeout as wait } from 'node:timers/promises';
import { freePorts } from './free-ports.ts';
import { newProgram } from './program.ts';
import type { Program, Shape } from './program.ts';
import { moneyAccount, withRelay } from './relay-config.ts';
import { startRelayUpstream } from './relay-upstream/relay-upstream.ts';
import type { RelayUpstream } from './relay-upstream/relay-upstream.ts';

const SETTLE_TIMEOUT_MS = 10_000;

export interface Money {
  /** Billionths. */
  readonly spent: bigint;
  readonly held: bigint;
}

/** The real program with channels for the synchronous routes, and the upstream behind them. */
export interface RelayProgram {
  readonly program: Program;
  readonly upstream: RelayUpstream;
  /** What an account of `accounts` has spent of its ten units, and what is held of them. */
  money(account: string): Promise<Money>;
  /** The same once nothing is held any more. */
  settled(account: string): Promise<Money>;
  end(): Promise<void>;
}

export interface RelayProgramOptions {
  readonly shape?: Shape;
  readonly accounts?: readonly string[];
  /** Settings of the gateway. */
  readonly gateway?: object;
}

export async function startRelayProgram({ shape = 'one program', ...options }: RelayProgramOptions = {}): Promise<RelayProgram> {
  const upstream = await startRelayUpstream();
  const [nobody = 0] = await freePorts(1);
  const program = await newProgram(shape, { upstream: upstream.host }, withRelay({ ...options, upstream: upstream.host, nobody: `127.0.0.1:${String(nobody)}` }));
  await program.start();
  const money = async (name: string): Promise<Money> => {
    const answer = await fetch(`http://${program.config.billing.http}/reelgate.billing.v1.AccountService/GetAccount`, {
      method: 'POST', headers: { 'content-type': 'application/json', authorization: 'Bearer reporting-caller-key' }, body: JSON.stringify({ id: moneyAccount(name).id }),
    });
    const { account } = await answer.json() as { account: { balanceNanos?: string; heldNanos?: string } };
    return { spent: 10_000_000_000n - BigInt(account.balanceNanos ?? 0), held: BigInt(account.heldNanos ?? 0) };
  };
  return {
    program, upstream, money,
    settled: async (name) => {
      const deadline = performance.now() + SETTLE_TIMEOUT_MS;
      for (;;) {
        const now = await money(name);
        if (now.held === 0n || performance.now() > deadline) return now;
        await wait(20);
      }
    },
    end: async () => {
      await program.end();
      await upstream.stop();
    },
  };
}
