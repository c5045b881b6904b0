export type LightName = 'creates' | 'polls' | 'ends' | 'settlements' | 'channels' | 'attention';

export type Grade = 'ok' | 'warn' | 'fail';

/** One of the six lights. */
export interface Light {
  readonly name: LightName;
  readonly grade: Grade;
  /** The figure that the light is about, with its unit, such as `12 / min`. */
  readonly figure: string;
  /** The reason for which the grade is not `ok`, in a sentence; undefined if it is `ok`. */
  readonly why?: string;
  /** The last two minutes were clean, and the last ten were not. */
  readonly isRecovering?: true;
  /** Refused creates or failed tasks of the last ten minutes, by cause. */
  readonly causes?: Causes;
  /** Models that no channel serves now. */
  readonly unserved?: readonly UnservedModels[];
  /**
   * One value for each of the last 60 minutes, the oldest first: creates, late polls, ended tasks, settlements,
   * faults of channels.
   * Empty if the light has no history or the tasks service does not answer.
   */
  readonly minutes: readonly number[];
}

/** The causes of refusals or failures: the requests of clients, upstreams, or this installation and its operators. */
export interface Causes {
  readonly client: number;
  readonly upstream: number;
  readonly us: number;
}

/** Models that no channel serves now at these endpoints, for the same reason. */
export interface UnservedModels {
  /** At most ten. */
  readonly models: readonly string[];
  /** The number of further ones. */
  readonly more: number;
  readonly endpoints: readonly string[];
  readonly why: string;
}

/** GET /now. */
export interface Now {
  readonly lights: readonly Light[];
  /** Undefined if the tasks service does not answer. */
  readonly unfinished?: number;
  /** Set while the tasks service does not answer, with the time of its last answer since the gateway started. */
  readonly tasksAway?: { readonly answeredAt?: number };
  /** The faults of the last hour, the worst first, or undefined if they cannot be read. */
  readonly faults?: FaultsView;
  readonly services: readonly ServiceState[];
  readonly now: number;
}

/** A service as this gateway sees it. */
export interface ServiceState {
  readonly name: string;
  readonly isReachable: boolean;
}

/** The faults of the last hour, by channel, by model and by account. */
export interface FaultsView {
  readonly channels: FaultGroup;
  readonly models: FaultGroup;
  readonly accounts: FaultGroup;
}

export interface FaultGroup {
  /** At most twelve. */
  readonly series: readonly FaultSeries[];
  /** The number of further ones. */
  readonly more: number;
}

export interface FaultSeries {
  /** Empty for models that are not configured, and for subjects beyond the bound of a process. */
  readonly subject: string;
  /** Faults of upstreams and of this installation in each of the last 60 minutes, the oldest first. */
  readonly minutes: readonly number[];
  readonly byUpstream: number;
  readonly byUs: number;
  /** Those that the requests of clients caused are in no minute. */
  readonly byClient: number;
}
