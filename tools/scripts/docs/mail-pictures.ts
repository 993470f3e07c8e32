/** Draws the examples of mails with a browser, as a mail program with a narrow window shows them. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { findChromium } from '#providers/browser/wall.ts';
import type { Example } from './mails-page.ts';

/** CSS pixels, and those of the picture. */
const width = 480;
const bytesMax = 20_000;

/** Writes one picture of each example into the folder, and removes others. */
export async function drawMails(folder: string, examples: readonly Example[]): Promise<void> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('The pictures need Chromium.');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  rmSync(folder, { recursive: true, force: true });
  try {
    const page = await browser.newPage({ viewport: { width, height: 200 }, javaScriptEnabled: false });
    for (const { mail, picture } of examples) {
      await page.setContent(mail.html);
      const bytes = await pictureOf(page);
      mkdirSync(dirname(join(folder, picture)), { recursive: true });
      writeFileSync(join(folder, picture), bytes);
    }
  } finally {
    await browser.close();
  }
}

/** The whole page as WebP, with the best quality that is small enough. */
async function pictureOf(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  try {
    const { cssContentSize } = await session.send('Page.getLayoutMetrics');
    const clip = { x: 0, y: 0, width, height: cssContentSize.height, scale: 1 };
    for (let quality = 80; ; quality -= 10) {
      const { data } = await session.send('Page.captureScreenshot', {
        format: 'webp',
        quality,
        clip,
        captureBeyondViewport: true,
      });
      const bytes = Buffer.from(data, 'base64');
      if (bytes.length <= bytesMax || quality <= 10) return bytes;
    }
  } finally {
    await session.detach();
  }
}
