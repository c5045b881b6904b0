/** Deliveries of webhooks, wherever they are listed. */
export const deliveryWords = {
  states: { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' },
  columns: {
    event: 'Event',
    subject: 'About',
    state: 'State',
    attempts: 'Attempts',
    last: 'Last answer',
    at: 'Created',
    next: 'Next attempt',
  },
  noAnswer: (error: string) => (error === '' ? 'no answer' : `no answer: ${error}`),
  status: (status: number, error: string) => (error === '' ? String(status) : `${String(status)}: ${error}`),
  notYet: 'none yet',
  due: 'due now',
  caption: 'Deliveries',
};
