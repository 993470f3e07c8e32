/** Pixels as a browser shows them. */
import { launchChromium } from '#test/web/chromium.ts';

export type Shown = { width: number; height: number; pixels: string };

/** Opens Chromium, which decodes photos and turns them as their orientation says. */
export async function openDecoder() {
  const browser = await launchChromium();
  const page = await browser.newPage();
  return {
    decode: (photos: readonly Buffer[]): Promise<Shown[]> =>
      page.evaluate(`(${decode})(${JSON.stringify(photos.map((bytes) => bytes.toString('base64')))})`),
    close: () => browser.close(),
  };
}

const decode = `async (photos) => {
  const shown = [];
  for (const photo of photos) {
    const bytes = Uint8Array.from(atob(photo), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    canvas.drawImage(bitmap, 0, 0);
    const { data } = canvas.getImageData(0, 0, bitmap.width, bitmap.height);
    shown.push({ width: bitmap.width, height: bitmap.height, pixels: [...data].join(' ') });
  }
  return shown;
}`;
