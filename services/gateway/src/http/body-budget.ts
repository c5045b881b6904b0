/** The bytes of all bodies that are held at one time. */
export interface BodyBudget {
  /** Takes so many, or none when they do not fit. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export function openBodyBudget(bytesMax: number): BodyBudget {
  let held = 0;
  return {
    take: (bytes) => {
      if (held + bytes > bytesMax) return false;
      held += bytes;
      return true;
    },
    give: (bytes) => {
      held -= bytes;
    },
  };
}
