/**
 * The call ended before its method did: at its deadline, or because its caller left. This is neither a fault nor a
 * refusal.
 */
export class CallEnded extends Error {
  override readonly name = 'CallEnded';
  readonly why: 'deadline_exceeded' | 'cancelled';

  constructor(why: CallEnded['why'], cause?: unknown) {
    super(
      why === 'cancelled' ? 'the caller left' : 'the deadline of the call has passed',
      cause === undefined ? undefined : { cause },
    );
    this.why = why;
  }
}
