/** The money of a task in sentences. */
export const moneyWords = {
  held: (amount: string, time: string, terms: string) =>
    `Held ${amount} at ${time} as estimated${terms === '' ? '' : `: ${terms}`}.`,
  pending: 'It is charged when the task ends.',
  deferred: 'The charge waits for a decision, because the usage is far above what was held.',
  charged: {
    usage: (amount: string) => `Charged ${amount} by usage.`,
    estimate: (amount: string) => `Charged ${amount}, as estimated.`,
    hold: (amount: string) => `Charged ${amount}, all that was held, because the usage is not known.`,
    released: () => 'Nothing was charged.',
  },
  nothingReturned: 'Nothing returned.',
  returned: (amount: string) => `${amount} returned.`,
  above: (amount: string) => `That is ${amount} above what was held.`,
  seconds: (count: string, each: string) => `${count} s × ${each}`,
  inputSeconds: (count: string, each: string) => `${count} s of reference video × ${each}`,
  images: (count: string, each: string) => `${count} ${count === '1' ? 'image' : 'images'} × ${each}`,
  request: (each: string) => `1 request × ${each}`,
  inputTokens: (count: string, each: string) => `${count} input tokens × ${each} per million`,
  outputTokens: (count: string, each: string) => `${count} output tokens × ${each} per million`,
  characters: (count: string, each: string) => `${count} characters × ${each} per million`,
  ledger: 'Every line of the ledger',
  contract: (key: string, version: number) => `Price ${key}, version ${version}`,
  columns: { event: 'Event', book: 'Book', amount: 'Amount', at: 'Time' },
  unavailable: 'The money of this task cannot be read now.',
  none: 'This task costs nothing, or its money is not recorded yet.',
};
