/** A call that was over before its method: at its deadline, or because its caller left. It is no fault, and no refusal. */
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
