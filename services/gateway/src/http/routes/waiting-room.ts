const WAITING_MAX = 10_000;

/** The reads that are held until something changes; when it is full, a read is answered at once. */
export interface WaitingRoom {
  enter(): boolean;
  leave(): void;
}

export function openWaitingRoom(max = WAITING_MAX): WaitingRoom {
  let waiting = 0;
  return {
    enter: () => {
      if (waiting >= max) return false;
      waiting += 1;
      return true;
    },
    leave: () => {
      waiting -= 1;
    },
  };
}
