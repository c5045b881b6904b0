import type { MediaKind, Upload } from './try-order.ts';

/** The family of a file; undefined: no model takes it. */
export function kindOfFile(type: string): MediaKind | undefined {
  const family = type.split('/')[0];
  return family === 'image' || family === 'video' || family === 'audio' ? family : undefined;
}

/** Reads a file of the visitor as a data URL. */
export async function readUpload(file: File): Promise<Upload> {
  const dataUrl = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      resolve(typeof reader.result === 'string' ? reader.result : '');
    };
    reader.onerror = () => {
      reject(reader.error ?? new Error(file.name));
    };
    reader.readAsDataURL(file);
  });
  return { name: file.name, type: file.type, bytes: file.size, dataUrl };
}
