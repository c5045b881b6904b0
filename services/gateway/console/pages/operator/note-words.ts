/** The texts of notes. */
export const noteWords = {
  notes: {
    title: 'Notes for the next person',
    none: 'No note is here.',
    label: 'New note',
    hint: (most: number) => `Everybody at this console sees it, at most ${most} characters.`,
    add: 'Leave the note',
    resolve: 'Resolve',
    remove: 'Delete',
    of: (author: string) => `by ${author}`,
    did: { add: 'The note is left.', resolve: 'The note is resolved.', remove: 'The note is deleted.' },
    which: (text: string) => `the note “${text}”`,
  },
} as const;
