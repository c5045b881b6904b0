/** Deliveries of webhooks, wherever they are listed. */
export const deliveryWords = {
  states: { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' },
  columns: {
    event: 'Event',
    subject: 'About',
    state: 'State',
    attempts: 'Attempts',
    last: 'Last answer',
    at: 'Created',
    next: 'Next attempt',
  },
  noAnswer: 'no answer',
  because: (what: string, why: string) => `${what}: ${why}`,
  /** The reasons for which an attempt failed, or a delivery was given up. */
  errors: {
    status: 'the receiver answered with an error',
    redirect: 'the receiver points to another address, which is not followed',
    address_refused: 'the host has no public address',
    not_reached: 'the receiver could not be reached',
    tls: 'no secure connection could be made',
    timeout: 'it took more than 15 s',
    too_large: 'the answer is larger than 64 KiB',
    busy: 'it could not be sent at that moment',
    not_sent: 'it cannot be sent',
    endpoint_disabled: 'the endpoint was disabled',
    endpoint_removed: 'the endpoint was deleted',
  } as Readonly<Record<string, string>>,
  notYet: 'none yet',
  due: 'due now',
  caption: 'Deliveries',
};
