import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@reelgate/platform/rpc/service';
import { Secret } from '@reelgate/platform/secret';
import { WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import type { LeasedWebhookReceiver, WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import { fromWireEvent } from './client-event.ts';
import type { ClientEvent } from './client-event.ts';
import { emptyToUndefined } from './wire-values.ts';

const DEADLINE_MS = 10_000;

/** A delivery that is to be attempted now. */
export interface DueDelivery {
  readonly id: string;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  readonly url: string;
  readonly event: ClientEvent;
  readonly origin: DeliveryOrigin;
}

/** The task, event and trace to which the spans and log lines of a delivery belong. */
export interface DeliveryOrigin {
  /** The request that created the subject of the event. Empty if it is not known. */
  readonly requestId: string;
  /** The carrier that the delivery continues. */
  readonly trace: string | undefined;
  /** The carrier of work that is too old to be continued in its trace. A trace of its own is linked to it. */
  readonly linkedTrace: string | undefined;
}

/** The name of a lease is never used twice. */
export interface ReceiverLease {
  readonly receiverId: string;
  readonly lease: string;
}

/** The failures in a row so far, and the count of its circuit. */
export interface CircuitCount {
  readonly failures: number;
  readonly circuit: number;
}

/** A receiver that this process serves while it renews the lease. */
export interface LeasedReceiver extends CircuitCount {
  readonly id: string;
  readonly lease: string;
  readonly accountId: string;
  readonly payload: 'thin' | 'full';
  /** Each secret signs. */
  readonly secrets: readonly Secret[];
  /** The deliveries, longest waiting first. */
  readonly deliveries: readonly DueDelivery[];
}

/** The part of an attempt that the circuit of its receiver counts. */
export interface AttemptVerdict {
  /** The reason for the failure, empty if the attempt succeeded. */
  readonly error: string;
  /** The count of the circuit when it began. */
  readonly circuit: number;
}

/** A request to a receiver. */
export interface DeliveryAttempt extends AttemptVerdict {
  readonly deliveryId: string;
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly durationMs: number;
  /** The status of the answer, or 0 if there was none. */
  readonly status: number;
  /** Without the signature. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly answerHead: string;
  /** The wait that the receiver asks for, in milliseconds, or 0 if it asks for none. */
  readonly retryAfterMs: number;
}

/** The work that was done under one lease. */
export interface ReceiverRecord extends ReceiverLease {
  readonly attempts: readonly DeliveryAttempt[];
  /** Releases the lease. */
  readonly returned: boolean;
}

export interface WorkRecorder {
  /** Returns the ids of the receivers with a lost lease. Their attempts are not written. */
  record(records: readonly ReceiverRecord[]): Promise<readonly string[]>;
}

export interface LeasedReceivers {
  readonly receivers: readonly LeasedReceiver[];
  readonly leaseMs: number;
  /** The time in milliseconds in which no receiver becomes due without an announcement, or 0 if it is not known. */
  readonly restMs: number;
}

/** The deliveries of the tasks service, in the gateway's types. */
export interface WebhookWork extends WorkRecorder {
  lease(limit: number): Promise<LeasedReceivers>;
  /** Extends leases. Returns the ids of the receivers with a lost lease. No request may be sent to them. */
  renew(leases: readonly ReceiverLease[]): Promise<readonly string[]>;
}

/** `worker` names this process, by a name that it drew at its start. */
export function webhookWorkClient(rpc: Client<typeof WebhookService>, worker: string): WebhookWork {
  const deadline = { timeoutMs: DEADLINE_MS };
  return {
    lease: async (limit) => {
      const { receivers, leaseMs, restMs } = await rpc.leaseWebhookReceivers({ worker, limit }, deadline);
      return { receivers: receivers.map(fromWireReceiver), leaseMs: Number(leaseMs), restMs: Number(restMs) };
    },
    renew: async (leases) => (await rpc.renewWebhookLeases({ leases: [...leases] }, deadline)).lostReceiverIds,
    record: async (records) =>
      (await rpc.recordWebhookAttempts({ records: records.map(toWireRecord) }, deadline)).lostReceiverIds,
  };
}

function fromWireReceiver({ receiverId, payload, secrets, deliveries, ...who }: LeasedWebhookReceiver): LeasedReceiver {
  return {
    id: receiverId,
    lease: who.lease,
    accountId: who.accountId,
    payload: payload === WebhookPayload.FULL ? 'full' : 'thin',
    failures: who.failures,
    circuit: Number(who.circuit),
    secrets: secrets.map((secret) => new Secret(secret)),
    deliveries: deliveries.flatMap(({ deliveryId, attempt, url, event, requestId, trace, linkedTrace }) =>
      event === undefined
        ? []
        : [
            {
              id: deliveryId,
              attempt,
              url,
              event: fromWireEvent(event),
              origin: { requestId, trace: emptyToUndefined(trace), linkedTrace: emptyToUndefined(linkedTrace) },
            },
          ],
    ),
  };
}

function toWireRecord({ attempts, ...record }: ReceiverRecord) {
  return { ...record, attempts: attempts.map(toWireAttempt) };
}

function toWireAttempt({ deliveryId, retryAfterMs, circuit, at, durationMs, status, ...attempt }: DeliveryAttempt) {
  return {
    deliveryId,
    retryAfterMs: BigInt(retryAfterMs),
    circuit: BigInt(circuit),
    attempt: { ...attempt, at: timestampFromMs(at), durationMs: BigInt(durationMs), statusCode: status },
  };
}
