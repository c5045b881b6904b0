/** A real server that runs for the tests of one file. */
export interface RunningServer {
  readonly url: string;
  readonly pid: number;
  /** Ends the server and removes its data; may be called twice. */
  stop(): Promise<void>;
}

/** Runs one kind of server, on a free port of the loopback address, with its data in a folder of its own. */
export interface Launcher {
  readonly name: string;
  /** Why the server cannot run on this machine; undefined if it can. */
  missing(): string | undefined;
  /** Returns undefined if the server is missing, and throws if it is installed and does not start. */
  start(): Promise<RunningServer | undefined>;
}
