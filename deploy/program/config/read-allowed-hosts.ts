import { parseTarget } from '@reelgate/platform/rpc/grpc/target';
import { parseHostPort } from '@reelgate/platform/config/units';
import type { ComparedConfig } from './findings/finding.ts';

/** The names that the admin port and the HTTP ports of the services answer to: all that the configuration has. */
export function readAllowedHosts({ gateway, ...config }: ComparedConfig): readonly string[] {
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
