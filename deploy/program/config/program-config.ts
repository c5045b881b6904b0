import path from 'node:path';
import { busSettings } from '@reelgate/platform/bus/bus-settings';
import type { BusSettings } from '@reelgate/platform/bus/bus-settings';
import { readConfigFile } from '@reelgate/platform/config/config-file';
import type { ConfigFile } from '@reelgate/platform/config/config-file';
import type { Keys } from '@reelgate/platform/config/config-locations';
import { readSection } from '@reelgate/platform/config/settings';
import type { KnownCaller } from '@reelgate/platform/rpc/callers';
import { grpcConfig } from '@reelgate/platform/rpc/grpc/config';
import type { GrpcConfig } from '@reelgate/platform/rpc/grpc/config';
import { parseTarget } from '@reelgate/platform/rpc/grpc/target';
import type { TargetEntry } from '@reelgate/platform/rpc/grpc/target';
import type { Secret } from '@reelgate/platform/secret';
import type { TraceConfig } from '@reelgate/platform/trace/trace-settings';
import { parseHostPort } from '@reelgate/platform/config/units';
import type { HostPort } from '@reelgate/platform/config/units';
import type { ServerTls } from '@reelgate/platform/tls/tls-files';
import { resolveFiles } from '@reelgate/platform/tls/tls-material';
import type { ResolveFile, TlsFiles } from '@reelgate/platform/tls/tls-material';
import type { ListenerTlsEntry } from '@reelgate/platform/tls/tls-schema';
import type { CalledService, ServiceName } from '../keys/identities.ts';
import type { OtherSigningKey } from '../keys/signing-key.ts';
import { findUnusableTargets, RefusedConfig, checkConfig } from './check-config.ts';
import { readDrains } from './drain-times.ts';
import type { Drains } from './drain-times.ts';
import type { ComparedConfig } from './findings/finding.ts';
import { readInternalCallers } from './internal-callers.ts';
import { openOwnAdapters } from './own-adapters.ts';
import { liveSettings } from './live-settings.ts';
import type { LiveSettings } from './live-settings.ts';
import { programKeys } from './program-schema.ts';
import { resolvePaths } from './resolve-paths.ts';

export { SERVICE_NAMES } from '../keys/identities.ts';
export type { CalledService, ServiceName } from '../keys/identities.ts';

const DEFAULT_FILE = path.join(import.meta.dirname, '../../local/reelgate.yaml');
/** The lists whose entries may stand in several files. */
const ENTRY_KEYS = { channels: 'id', accounts: 'id', internal_callers: 'name', operators: 'name' };
export const DEFAULT_ADDRESSES = {
  tasks: '127.0.0.1:9101',
  billing: '127.0.0.1:9102',
  media: '127.0.0.1:9103',
  mediaHttp: '127.0.0.1:9113',
};

export const CALLED_SERVICES = ['tasks', 'billing', 'media'] as const satisfies readonly CalledService[];
/** The services that each service calls. */
export const CALLED: Readonly<Record<ServiceName, readonly CalledService[]>> = {
  gateway: CALLED_SERVICES,
  tasks: ['billing', 'media'],
  billing: [],
  media: [],
};

/** The addresses that a service listens on; undefined if it does not open that port. */
export interface Ports {
  readonly rpc: HostPort | undefined;
  readonly http: HostPort | undefined;
  /** Undefined: plaintext. */
  readonly tls?: ListenerTls | undefined;
  /** Of the connections of the gRPC port. */
  readonly connectionAgeMs?: number | undefined;
}

/** The certificates of both ports of a service; `ca` signs the certificates of clients. */
export interface ListenerTls {
  readonly files: TlsFiles;
  readonly clientCertificates: ServerTls['clientCertificates'];
}

/** The file as it was read. */
export interface LoadedConfig {
  readonly file: ConfigFile;
  /** The checked file. Every service reads its own part of it. */
  readonly value: unknown;
  /** Settings without effect: each with file, line, key, and what would be right. */
  readonly warnings: readonly string[];
}

export interface ProgramConfig extends LoadedConfig {
  readonly publicUrl: string;
  /** An absolute path. */
  readonly dataDir: string;
  readonly signingKey: Secret | undefined;
  readonly otherSigningKeys: readonly OtherSigningKey[];
  /** Instead of the signing key, the keys of one service. */
  readonly serviceKey: Secret | undefined;
  /** True if a service of its own refuses the signing key. */
  readonly isServiceKeyRequired: boolean;
  readonly bus: BusSettings | undefined;
  /** The names that the admin port and the HTTP ports of the services answer to. */
  readonly allowedHosts: readonly string[];
  readonly ports: Readonly<Record<'tasks' | 'billing' | 'media', Ports>>;
  /** The addresses at which callers reach the services. */
  readonly services: {
    readonly tasks: string;
    readonly billing: string;
    readonly media: string;
    readonly mediaHttp: string;
    /** The certificates of calls; undefined: plaintext. */
    readonly tls?: TlsFiles | undefined;
  };
  readonly grpc: GrpcConfig;
  readonly tracing: TraceConfig;
  /** The settings that a reload applies. */
  readonly live: LiveSettings;
  readonly drains: Drains;
  readonly internalCallers: readonly KnownCaller[];
  readonly sandbox: HostPort | undefined;
  /** The credential of the channels that point at the sandbox. */
  readonly sandboxKey: string;
  /** Ids of the channels that point at the sandbox. */
  readonly sandboxChannels: readonly string[];
}

/** Reads and checks the configuration. Throws a ConfigError with one line for each refusal: file, line, key. */
export function readProgramConfig(environment: Readonly<Record<string, string | undefined>>): ProgramConfig {
  const named = environment['REELGATE_CONFIG'];
  const own = openOwnAdapters();
  const read = readConfigFile(
    named === undefined || named === '' ? DEFAULT_FILE : named,
    own.readSchema,
    environment,
    ENTRY_KEYS,
  );
  const file = { ...read, value: { ...(read.value as object), adapters: own.list() } };
  const checked = file.value as unknown as ComparedConfig;
  const { refused: faults, warnings } = checkConfig(file, checked);
  const refused = [...faults, ...findUnusableTargets(file, checked.gateway.services, environment)];
  if (refused.length > 0) throw new RefusedConfig(refused, warnings);
  return programConfig(file, warnings);
}

/** Reads the program's own keys of a file that the checks have accepted. */
export function programConfig(file: ConfigFile, warnings: readonly string[]): ProgramConfig {
  const checked = resolvePaths(file.value as ComparedConfig, (keys, relative) => file.resolve(keys, relative));
  const sandboxed = checked.channels.filter(({ base_url }) => base_url.endsWith(checked.sandbox?.listen ?? '//'));
  const { publicUrl, signingKey, otherSigningKeys, serviceKey, isServiceKeyRequired, sandbox, tracing } = readSection(
    programKeys,
    checked,
    '',
  );
  const grpc = grpcConfig(checked);
  const { connectionAgeMs } = grpc;
  return {
    file,
    value:
      checked.media.blobs === undefined || checked.media.blobs.startsWith('s3://')
        ? checked
        : { ...checked, media: { ...checked.media, blobs: file.resolve(['media', 'blobs'], checked.media.blobs) } },
    publicUrl: publicUrl.replace(/\/$/, ''),
    dataDir: file.resolve(['data_dir'], checked.data_dir),
    signingKey,
    otherSigningKeys,
    serviceKey,
    isServiceKeyRequired,
    bus: checked.bus === undefined ? undefined : busSettings(checked.bus, newFileResolver(file, ['bus', 'tls'])),
    allowedHosts: readAllowedHosts(checked),
    ports: {
      tasks: { ...readPorts(checked.tasks, newFileResolver(file, ['tasks', 'tls'])), connectionAgeMs },
      billing: { ...readPorts(checked.billing, newFileResolver(file, ['billing', 'tls'])), connectionAgeMs },
      media: { ...readPorts(checked.media, newFileResolver(file, ['media', 'tls'])), connectionAgeMs },
    },
    services: readServices(checked, newFileResolver(file, ['gateway', 'services', 'tls'])),
    grpc,
    tracing,
    live: liveSettings(checked),
    drains: readDrains(checked),
    internalCallers: readInternalCallers(file, checked.internal_callers),
    sandbox: sandbox?.listen,
    sandboxKey: sandboxed[0]?.api_key ?? 'sandbox',
    sandboxChannels: sandboxed.map(({ id }) => id),
    warnings,
  };
}

function newFileResolver(file: ConfigFile, section: Keys): ResolveFile {
  return (key, relative) => file.resolve([...section, key], relative);
}

function readPorts({ listen, http, tls }: ComparedConfig[CalledService], resolved: ResolveFile): Ports {
  return {
    rpc: listen === undefined ? undefined : parseHostPort(listen),
    http: http === undefined ? undefined : parseHostPort(http),
    tls: tls === undefined ? undefined : readListenerTls(tls, resolved),
  };
}

function readListenerTls(
  { client_ca: ca, client_certificates: asked, ...own }: ListenerTlsEntry,
  resolved: ResolveFile,
): ListenerTls {
  const files = resolveFiles({ ...own, ca }, (key, file) => resolved(key === 'ca' ? 'client_ca' : key, file));
  return { files, clientCertificates: ca === undefined ? 'none' : asked };
}

/**
 * A target under `gateway.services` is used as it is; a list becomes a target. A service without one is called where it
 * listens.
 */
function readServices(
  { gateway: { services }, tasks, billing, media }: ComparedConfig,
  resolved: ResolveFile,
): ProgramConfig['services'] {
  const scheme = services.tls === undefined ? 'http' : 'https';
  return {
    tasks: readTarget(services.tasks) ?? toReachableAddress(tasks.listen) ?? DEFAULT_ADDRESSES.tasks,
    billing: readTarget(services.billing) ?? toReachableAddress(billing.listen) ?? DEFAULT_ADDRESSES.billing,
    media: readTarget(services.media) ?? toReachableAddress(media.listen) ?? DEFAULT_ADDRESSES.media,
    mediaHttp: `${scheme}://${services.media_http ?? toReachableAddress(media.http) ?? DEFAULT_ADDRESSES.mediaHttp}`,
    tls: services.tls === undefined ? undefined : resolveFiles(services.tls, resolved),
  };
}

function readTarget(entry: TargetEntry | undefined): string | undefined {
  return entry === undefined ? undefined : parseTarget(entry)?.target;
}

/**
 * The one program and the command line call a service that listens on every address on the loopback address. For a
 * process of its own, `assertCallable` refuses such an address.
 */
function toReachableAddress(listen: string | undefined): string | undefined {
  return listen?.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');
}

/** The names that the admin port and the HTTP ports of the services answer to: all that the configuration has. */
function readAllowedHosts({ gateway, ...config }: ComparedConfig): readonly string[] {
  const { tasks, billing, media, media_http: bytes } = gateway.services;
  const urls = [config.public_url, gateway.admin_url ?? []].flat();
  const listeners = [gateway.admin, bytes, config.tasks.http, config.billing.http, config.media.http];
  return [
    ...config.allowed_hosts,
    ...urls.flatMap((url) => URL.parse(url)?.hostname ?? []),
    ...listeners.flatMap((address) => (address === undefined ? [] : (parseHostPort(address)?.host ?? []))),
    ...[tasks, billing, media].flatMap((target) => (target === undefined ? [] : (parseTarget(target)?.hosts ?? []))),
  ];
}
