import { Code, ConnectError } from '@connectrpc/connect';
import { isProblem } from '../problem.ts';

/**
 * Reports whether a call ended with its connection, as can happen when a replica stops at that moment. The service
 * may have done the work. An answer of the service itself that says `unavailable` has details.
 */
export function isConnectionLost(error: unknown): boolean {
  if (!isProblem(error, 'service_unavailable')) return false;
  const { cause } = error as Error;
  return cause instanceof ConnectError && cause.code === Code.Unavailable && cause.details.length === 0;
}
