import { lookup } from 'node:dns/promises';
import { connect, isIP } from 'node:net';
import type { HostPort } from '@reelgate/platform/config/units';
import { describeError } from '@reelgate/platform/lifecycle/when-reachable';
import { isProblem } from '@reelgate/platform/problem';
import { writeHostPort } from '@reelgate/platform/rpc/grpc/target';
import type { DiagnosedService } from '../diagnosed-services.ts';
import { describeClock } from './compare-clocks.ts';
import type { ClockReading } from './compare-clocks.ts';
import { awaitAnswer, inSeconds } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import { describeProcess } from './describe-process.ts';
import type { DescribedProcess } from './describe-process.ts';
import type { DoctorLine, Report } from './doctor-line.ts';

/** The maximum number of listed replicas of one service. Only the number of further ones is shown. */
const REPLICAS_MAX = 16;
/** A silence of so short a time is no evidence. */
const BRIEF_MS = 1000;
/** The reason within the words of the gRPC client for a service without a connection. */
const CONNECTION_FAULT = /Error: ((?:(?!Error: ).)+?)(?:\. Resolution note|$)/;

export interface AskedBy {
  readonly deadline: Deadline;
  readonly report: Report;
  /** Takes the lines about the clocks. */
  readonly reportClock: Report;
  readonly lookUp?: LookUp;
  readonly connect?: TryConnection;
}

interface Replica {
  /** As a person reads it. */
  readonly address: string;
  /** Undefined for a socket of this machine. */
  readonly host: HostPort | undefined;
  readonly client: DiagnosedService['client'];
}

/**
 * Asks every replica of a service concurrently, and prints the lines of each as it answers. Returns the clocks of all.
 */
export async function askService(service: DiagnosedService, asked: AskedBy): Promise<readonly ClockReading[]> {
  const { report, reportClock } = asked;
  const replicas = await listReplicas(service, asked);
  const known = new Set<string>();
  const clocks = replicas.slice(0, REPLICAS_MAX).map(async (replica) => {
    const answer = await askReplica(service, replica, asked);
    if (!('process' in answer)) report(answer);
    // Several addresses can lead to one process.
    if (!('process' in answer) || known.has(answer.process)) return [];
    known.add(answer.process);
    report(...answer.lines);
    if (answer.clock === undefined) return [];
    reportClock(describeClock(answer.clock));
    return [answer.clock];
  });
  if (replicas.length > REPLICAS_MAX) report(describeRest(service, replicas.length - REPLICAS_MAX));
  return (await Promise.all(clocks)).flat();
}

/** Returns an empty list if the name of the service has no address. A line reports that. */
async function listReplicas(
  service: DiagnosedService,
  { deadline, report, lookUp = lookUpAll }: AskedBy,
): Promise<readonly Replica[]> {
  const { address, hosts, client } = service;
  const found = await awaitAnswer(
    deadline,
    () => findReplicas(hosts, lookUp).catch((error: unknown) => `does not resolve: ${describeError(error)}`),
    (waitedMs) => `was not resolved within ${inSeconds(waitedMs)}`,
  );
  if (typeof found === 'string') {
    report(describeUnresolved(service, found));
    return [];
  }
  if (found.length === 0) return [{ address, host: hosts[0], client }];
  return found.map((host) => ({ address: writeHostPort(host), host, client: service.connectReplica(host) }));
}

/** Returns the lines of the replica, or a line with the reason why it did not answer. */
async function askReplica(
  service: DiagnosedService,
  { address, host, client }: Replica,
  { deadline, connect = tryConnection }: AskedBy,
): Promise<DescribedProcess | DoctorLine> {
  const { clock } = deadline;
  const begunAt = clock.now();
  let isAccepted = false;
  return awaitAnswer<DescribedProcess | DoctorLine>(
    deadline,
    async (signal) => {
      // A replica that answers in time is not connected to a second time.
      void clock.sleep(deadline.leftMs() / 2, signal).then(async () => {
        isAccepted = host !== undefined && !signal.aborted && (await connect(host, signal));
      });
      try {
        const answer = await client.diagnose({}, { timeoutMs: deadline.callMs(), signal });
        return describeProcess(answer, begunAt, clock.now());
      } catch (error) {
        return describeRefusal(service, address, error);
      }
    },
    (waitedMs) => describeSilence(service, { address, isAccepted, waitedMs }),
  );
}

function describeUnresolved({ name, hosts }: DiagnosedService, how: string): DoctorLine {
  const key = name === 'gateway' ? 'gateway.admin or --gateway' : `gateway.services.${name}`;
  return {
    subject: name,
    part: '',
    grade: 'fail',
    detail: `the name ${hosts[0]?.host ?? ''} ${how}`,
    advice: `check that name in ${key}, and the name server of this machine`,
  };
}

function describeRest({ name, address }: DiagnosedService, count: number): DoctorLine {
  return {
    subject: name,
    part: '',
    grade: 'warn',
    detail: `${count} more replicas at ${address} were not asked`,
    advice: 'look at their readiness, such as with kubectl get pods',
  };
}

interface Silence {
  readonly address: string;
  /** Reports whether the address accepts connections. */
  readonly isAccepted: boolean;
  readonly waitedMs: number;
}

/** A process that hangs still has its connections accepted, by the system. */
function describeSilence({ name }: DiagnosedService, { address, isAccepted, waitedMs }: Silence): DoctorLine {
  const line = { subject: name, part: '', grade: 'fail' } as const;
  const within = `within ${inSeconds(waitedMs)}`;
  if (waitedMs < BRIEF_MS)
    return { ...line, detail: `${address} gave no answer ${within}`, advice: 'call again: the time was too short' };
  return isAccepted
    ? {
        ...line,
        detail: `the process at ${address} accepts connections and gave no answer ${within}`,
        advice: 'it hangs: look at its processor and the end of its log, then restart it',
      }
    : {
        ...line,
        detail: `${address} gave no answer and accepted no connection ${within}`,
        advice:
          'look whether its machine runs, and at the network to it: packets get lost, such as by a network policy',
      };
}

/** Explains why a service did not answer, and gives the remedy. */
function describeRefusal({ name }: DiagnosedService, address: string, error: unknown): DoctorLine {
  const line = { subject: name, part: '', grade: 'fail' } as const;
  if (isProblem(error, 'invalid_caller_key'))
    return {
      ...line,
      detail: `the process at ${address} does not know the key of this command line`,
      advice: 'give this command line the signing_key of the services, from the same configuration',
    };
  if (isProblem(error) && error.kind !== 'unavailable')
    return {
      ...line,
      detail: `refused: ${error.message}`,
      advice: 'use the release of the services for this command line',
    };
  return {
    ...line,
    detail: `does not answer at ${address}${explainCause(error)}`,
    advice: `start it; if it runs, its log names what its start waits for, such as its database; then check the address`,
  };
}

function explainCause(error: unknown): string {
  if (!(error instanceof Error) || error.cause === undefined) return '';
  const said = describeError(error.cause);
  return `: ${CONNECTION_FAULT.exec(said.split('Last error: ').at(-1) ?? '')?.[1] ?? said}`;
}

/** Returns every address of a name. Rejects if the name has no address. */
type LookUp = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

const lookUpAll: LookUp = (host) => lookup(host, { all: true });

/**
 * Finds the addresses of the replicas behind the hosts of a service. Returns an empty list if the service has one
 * address, so that it is called by its name. Addresses of another family belong to the same replicas.
 */
async function findReplicas(hosts: readonly HostPort[], lookUp: LookUp): Promise<readonly HostPort[]> {
  const [named] = hosts;
  if (named === undefined || hosts.length > 1) return hosts;
  if (isIP(named.host) !== 0) return [];
  const addresses = await lookUp(named.host);
  const ofOneFamily = addresses.filter(({ family }) => family === addresses[0]?.family);
  return ofOneFamily.length > 1 ? ofOneFamily.map(({ address }) => ({ host: address, port: named.port })) : [];
}

/** Reports whether an address accepts a connection. The signal ends the attempt. */
type TryConnection = (at: HostPort, signal: AbortSignal) => Promise<boolean>;

const tryConnection: TryConnection = ({ host, port }, signal) =>
  new Promise((resolve) => {
    const socket = connect({ host, port, signal });
    const end = (isAccepted: boolean): void => {
      socket.destroy();
      resolve(isAccepted);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
