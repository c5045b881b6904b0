import { timestampMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import { Secret } from '@reelgate/platform/secret';
import { WebhookPayload as WirePayload } from '@reelgate/proto/tasks/v1/webhook';
import type { WebhookEndpoint as WireEndpoint } from '@reelgate/proto/tasks/v1/webhook';
import { toMs, requireValue, emptyToUndefined } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

/** The content of a delivery: the id of the subject, or also the subject as a status read returns it. */
export type WebhookPayload = EnumWord<typeof WirePayload>;

/** The settings of an endpoint. */
export interface EndpointSettings {
  readonly name: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly payload: WebhookPayload;
}

export interface WebhookEndpoint extends EndpointSettings {
  readonly id: string;
  /** The hint to the secret, undefined if the endpoint has no secret yet. */
  readonly secretHint: string | undefined;
  /** All times in milliseconds since 1970. */
  readonly createdAt: number | undefined;
  readonly updatedAt: number | undefined;
  /** The time and the reason of its disabling, undefined if it is enabled. */
  readonly disabled: { readonly at: number; readonly reason: string } | undefined;
  readonly lastSuccessAt: number | undefined;
  readonly lastFailureAt: number | undefined;
  readonly failingSince: number | undefined;
}

export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint;
  readonly secret: Secret;
}

/** A change of an endpoint. An undefined member stays as it is. */
export type EndpointChange = { readonly [M in keyof EndpointSettings]?: EndpointSettings[M] | undefined } & {
  readonly isDisabled?: boolean | undefined;
};

export const WIRE_PAYLOADS = deriveValues(WirePayload);

export function fromWireEndpoint(wire: WireEndpoint | undefined): WebhookEndpoint {
  const { id, name, url, eventTypes, payload, secretHint, disabledAt, disabledReason, ...times } = requireValue(wire);
  return {
    id,
    name,
    url,
    eventTypes,
    payload: payload === WirePayload.FULL ? ('full' as const) : ('thin' as const),
    secretHint: emptyToUndefined(secretHint),
    disabled: disabledAt === undefined ? undefined : { at: timestampMs(disabledAt), reason: disabledReason },
    createdAt: toMs(times.createdAt),
    updatedAt: toMs(times.updatedAt),
    lastSuccessAt: toMs(times.lastSuccessAt),
    lastFailureAt: toMs(times.lastFailureAt),
    failingSince: toMs(times.failingSince),
  } satisfies MessageMapping<WireEndpoint, 'accountId' | 'disabledAt' | 'disabledReason'>;
}

export function fromWireEndpointWithSecret({
  endpoint,
  secret,
}: {
  readonly endpoint?: WireEndpoint | undefined;
  readonly secret: string;
}): EndpointWithSecret {
  return { endpoint: fromWireEndpoint(endpoint), secret: new Secret(secret) };
}
