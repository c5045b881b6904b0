import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { chromiumProgram } from '../servers/chromium.ts';

// Draws pictures of pages on one sheet: node test/browser/draw-contact-sheet.ts SHEET.webp PICTURE.png…

const COLUMNS = 3;
const WIDTH = 420;
const HEIGHT = 300;
const LABEL = 22;
const GAP = 12;
const QUALITY = 0.72;

interface Picture {
  readonly name: string;
  readonly data: string;
}

/** Runs in the page: draws the top of each picture with its name above it, and returns the sheet as a data URL. */
const DRAW = `async ({ pictures, columns, width, height, label, gap, quality }) => {
  const canvas = document.createElement('canvas');
  canvas.width = columns * (width + gap) + gap;
  canvas.height = Math.ceil(pictures.length / columns) * (height + label + gap) + gap;
  const pen = canvas.getContext('2d');
  pen.fillStyle = '#e2e5ea';
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.font = '600 13px sans-serif';
  pen.imageSmoothingQuality = 'high';
  for (const [at, { name, data }] of pictures.entries()) {
    const image = new Image();
    image.src = data;
    await image.decode();
    const left = gap + (at % columns) * (width + gap);
    const top = gap + Math.floor(at / columns) * (height + label + gap);
    pen.fillStyle = '#16191f';
    pen.fillText(name, left, top + 14);
    const shown = Math.min(image.height, (height * image.width) / width);
    pen.fillStyle = '#ffffff';
    pen.fillRect(left, top + label, width, height);
    pen.drawImage(image, 0, 0, image.width, shown, left, top + label, width, (shown * width) / image.width);
  }
  return canvas.toDataURL('image/webp', quality);
}`;

async function drawSheet(pictures: readonly Picture[]): Promise<Buffer> {
  const executablePath = chromiumProgram();
  if (executablePath === undefined) throw new Error('there is no chromium');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage();
    const how = { pictures, columns: COLUMNS, width: WIDTH, height: HEIGHT, label: LABEL, gap: GAP, quality: QUALITY };
    const url = await page.evaluate<string>(`(${DRAW})(${JSON.stringify(how)})`);
    return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
  } finally {
    await browser.close();
  }
}

const [sheet, ...files] = process.argv.slice(2);
if (sheet === undefined || files.length === 0) throw new Error('expected a sheet and its pictures');
writeFileSync(
  sheet,
  await drawSheet(
    files.map((file) => ({
      name: path
        .basename(file, '.png')
        .replace(/^(?:client|operator)-/, '')
        .replace(/-(?:1280-)?light$/, ''),
      data: `data:image/png;base64,${readFileSync(file, 'base64')}`,
    })),
  ),
);
