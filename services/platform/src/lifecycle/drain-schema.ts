const duration = { type: 'string', format: 'duration' } as const;

/** The `drain` of a service in the configuration. Without a default, the program computes the time-out. */
export function drainSchema(timeout?: string): object {
  return {
    type: 'object',
    description: 'how a stop goes, such as { lead: 5s, timeout: 90s }',
    additionalProperties: false,
    default: {},
    properties: {
      lead: {
        ...duration,
        description: 'how long requests are still taken after a SIGTERM, such as 5s; 0s: not at all',
      },
      timeout: {
        ...duration,
        ...(timeout === undefined ? {} : { default: timeout }),
        description: 'how long running work can then go on, such as 90s',
      },
    },
  };
}

/** As the checked configuration has it. */
export interface DrainEntry {
  readonly lead?: string;
  readonly timeout?: string;
}
