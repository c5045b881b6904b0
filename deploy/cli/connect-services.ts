import { systemClock } from '@reelgate/platform/clock';
import { connectGrpc } from '@reelgate/platform/rpc/grpc/client';
import type { GrpcConnection } from '@reelgate/platform/rpc/grpc/client';
import type { Client } from '@reelgate/platform/rpc/service';
import { readProgramConfig } from '../program/config/program-config.ts';
import type { CalledService } from '../program/config/program-config.ts';
import type { Environment } from './environment.ts';
import { CONTRACTS } from './contracts.ts';
import { callsTls } from '../program/config/used-tls.ts';
import { callKey } from '../program/keys/identities.ts';
import { readAcceptedKeys } from '../program/keys/service-key.ts';

type Contracts = typeof CONTRACTS;

/** The services that the command line talks to, over gRPC. */
export type Services = { readonly [N in keyof Contracts]: Client<Contracts[N]> } & { close(): void };

/** The services that know the open holds and their tasks. */
export type BookServices = Pick<Services, 'tasks' | 'accounts'>;

/** The process that has each contract. */
const PROCESSES: Readonly<Record<keyof Contracts, CalledService>> = {
  tasks: 'tasks',
  webhooks: 'tasks',
  queue: 'tasks',
  batches: 'tasks',
  billing: 'billing',
  accounts: 'billing',
  usage: 'billing',
  media: 'media',
};

/** Connects at the first use, so that a command checks its arguments before it needs a configuration. */
export function lazyServices(environment: Environment): Services {
  let connections: Readonly<Record<CalledService, GrpcConnection>> | undefined;
  const clients = Object.entries(PROCESSES).map(([name, process]) => {
    const get = (): unknown => {
      connections ??= connectProcesses(environment);
      return connections[process].client(CONTRACTS[name as keyof Contracts]);
    };
    return [name, { get }] as const;
  });
  const close = (): void => {
    for (const connection of Object.values(connections ?? {})) connection.close();
  };
  return Object.defineProperties({ close }, Object.fromEntries(clients)) as Services;
}

/** Connects to the services. The configuration of the program has their addresses, and their key or its location. */
function connectProcesses(environment: Environment): Readonly<Record<CalledService, GrpcConnection>> {
  const config = readProgramConfig(environment);
  const [signingKey] = readAcceptedKeys(config).signatures;
  const tls = callsTls(config, systemClock.now());
  const connect = (name: CalledService): GrpcConnection =>
    connectGrpc(config.services[name], callKey('operator', name, signingKey), tls, config.grpc.calls);
  return { tasks: connect('tasks'), billing: connect('billing'), media: connect('media') };
}
