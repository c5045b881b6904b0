import { refuse } from '../refusal.ts';

/** Far more than the units of an access unit: slices and a few others. */
const UNITS_MAX = 4096;
const START_CODE_BYTES = 3;
const CONFIGURATION_HEAD_BYTES = 5;

/**
 * The parameter sets of the track, then the NAL units of the packet. Without a description the packet has
 * start codes (Annex B).
 */
export function nalUnits(packet: Uint8Array, description: Uint8Array | undefined): readonly Uint8Array[] {
  if (description === undefined) return startCoded(packet);
  const lengthBytes = ((description[CONFIGURATION_HEAD_BYTES - 1] ?? 0) & 3) + 1;
  return [...parameterSets(description), ...lengthPrefixed(packet, lengthBytes, UNITS_MAX)];
}

/** The parameter sets of an AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1). */
function parameterSets(record: Uint8Array): readonly Uint8Array[] {
  const sequences = lengthPrefixed(
    record.subarray(CONFIGURATION_HEAD_BYTES + 1),
    2,
    (record[CONFIGURATION_HEAD_BYTES] ?? 0) & 31,
  );
  const used = sequences.reduce((sum, unit) => sum + 2 + unit.byteLength, CONFIGURATION_HEAD_BYTES + 1);
  return [...sequences, ...lengthPrefixed(record.subarray(used + 1), 2, record[used] ?? 0)];
}

function lengthPrefixed(bytes: Uint8Array, lengthBytes: number, unitsMax: number): readonly Uint8Array[] {
  const units: Uint8Array[] = [];
  let at = 0;
  while (at + lengthBytes <= bytes.byteLength && units.length < unitsMax) {
    const length = bytes.subarray(at, at + lengthBytes).reduce((sum, byte) => sum * 256 + byte, 0);
    at += lengthBytes;
    if (at + length > bytes.byteLength) refuse('corrupt', 'a unit is longer than its packet');
    units.push(bytes.subarray(at, at + length));
    at += length;
  }
  return units;
}

function startCoded(bytes: Uint8Array): readonly Uint8Array[] {
  const units: Uint8Array[] = [];
  let start = nextStart(bytes, 0);
  while (start < bytes.byteLength && units.length < UNITS_MAX) {
    const next = nextStart(bytes, start + START_CODE_BYTES);
    units.push(bytes.subarray(start + START_CODE_BYTES, next));
    start = next;
  }
  return units;
}

/** The position of the next start code, or the length of the bytes. */
function nextStart(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(1, from + 2); at >= 0; at = bytes.indexOf(1, at + 1)) {
    if (bytes[at - 1] === 0 && bytes[at - 2] === 0) return at - 2;
  }
  return bytes.byteLength;
}
