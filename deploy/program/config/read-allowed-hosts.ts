import { parseTarget } from '@reelgate/platform/rpc/grpc/target';
import { parseHostPort } from '@reelgate/platform/config/units';
import type { ComparedConfig } from './findings/finding.ts';

const ALLOWED_HOSTS_MAX = 64;

export const allowedHostsSchema = {
  type: 'array',
  default: [],
  maxItems: ALLOWED_HOSTS_MAX,
  items: {
    type: 'string',
    pattern: '^(\\*\\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$',
    description: 'a host name such as media.example, or *.example for every name below it, without a port',
  },
} as const;

interface NamingConfig extends ComparedConfig {
  readonly allowed_hosts: readonly string[];
  readonly gateway: ComparedConfig['gateway'] & { readonly admin?: string; readonly admin_url?: string };
}

/** The names that the admin port and the HTTP ports of the services answer to: all that the configuration has. */
export function readAllowedHosts({ gateway, ...config }: NamingConfig): readonly string[] {
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
