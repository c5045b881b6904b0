/** A real server that runs for the tests of one file. */
export interface RunningServer {
  readonly url: string;
  /** Ends the server and removes its data; may be called twice. */
  stop(): Promise<void>;
}

/** Knows how to run one kind of server: on a free port of the loopback, with its data in a folder of its own. */
export interface Launcher {
  readonly name: string;
  /** Why the server cannot run on this machine; undefined when it can. */
  missing(): string | undefined;
  /** Gives undefined where the server is missing, and throws where it is there and does not start. */
  start(): Promise<RunningServer | undefined>;
}
