/** A real server that runs for tests. */
export interface RunningServer {
  readonly url: string;
  readonly pid: number;
  /** Lets it outlive the process that started it. The end of the run ends it. */
  detach(): void;
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
  /**
   * Removes what tests have left on the server at the URL. A server that has this goes from one test file to the next,
   * because it takes long to start.
   */
  empty?(url: string): Promise<void>;
}
