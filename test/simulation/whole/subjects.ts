const ORDER = /^(order|call)-\d+(-remix)?/;
const ID = /\b(?:task|job)_[a-z0-9]{10,}/g;
const CREATED: ReadonlySet<string> = new Set(['a task was created', 'a job was created']);

/** Which order or call each task and job of the product belongs to. */
export interface Subjects {
  /** Learns it from a line of the product's log. */
  learn(message: string, fields: object): void;
  /** Names the order or call of the first known id in a text; empty if there is none. */
  name(text: string): string;
}

export function openSubjects(): Subjects {
  const orders = new Map<string, string>();
  return {
    learn: (message, fields) => {
      const { taskId, requestId } = fields as Readonly<Record<string, unknown>>;
      const [order] = ORDER.exec(String(requestId)) ?? [];
      if (CREATED.has(message) && order !== undefined) orders.set(String(taskId), order);
    },
    name: (text) => (text.match(ID) ?? []).map((id) => orders.get(id)).find((order) => order !== undefined) ?? '',
  };
}
