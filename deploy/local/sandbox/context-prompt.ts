import type { Order } from './order.ts';

// The sentences around the quote fit beside it in the 7000 characters of a generation's prompt.
const quotedCodePointsMax = 6000;

/** The text of a finished context-IR: the vendor's sections, with the client's prompt in them. */
export function contextPrompt(order: Order): string {
  const quote = Array.from(order.text).slice(0, quotedCodePointsMax).join('').trim();
  const half = timestamp(order.duration / 2);
  return [
    ...(order.roles.some((role) => role.startsWith('reference_')) ? referenceSections(order) : []),
    `integrated_multimodal_description: [Shot 1] At 00:00.000, the scene opens as asked for: "${quote}" ` +
      `The camera holds still. [Shot 2] At ${half}, the same scene goes on, ` +
      `a little closer, until ${timestamp(order.duration)}.`,
    'overall_soundscape: The quiet sound of the place itself, with nothing spoken.',
    'non_diegetic_music: A soft plucked tune on a minor pentatonic scale, two notes a second.',
  ].join('\n');
}

function referenceSections({ roles }: Order): readonly string[] {
  const names = roles.map((role, index) => `${role.replace('_', ' ')} ${index + 1}`).join(', ');
  return [
    `subject_definitions: The subjects are taken from ${names}.`,
    'summary: One continuous scene built from the references.',
    'retention_analysis: Faces, clothing and colours of the references are kept.',
    'detailed_description: As told below, shot by shot.',
  ];
}

function timestamp(seconds: number): string {
  return `00:${seconds.toFixed(3).padStart(6, '0')}`;
}
