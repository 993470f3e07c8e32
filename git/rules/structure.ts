/** Whether a file is complete, contains only one file, and decodes to a size that the build can process. */

import { ByteReader, UnexpectedEnd } from './structure/byte-reader.ts';
import { type Walked, walkGif, walkJpeg, walkPng, walkWebp } from './structure/images.ts';
import { walkIco, walkMp4, walkWhole } from './structure/media.ts';
import { walkAvif, walkPdf, walkSfnt, walkTiff, walkWoff } from './structure/other-formats.ts';

const walks: Record<string, (reader: ByteReader) => Promise<Walked | string | undefined>> = {
  png: walkPng,
  jpg: walkJpeg,
  gif: walkGif,
  webp: walkWebp,
  avif: walkAvif,
  tif: walkTiff,
  woff: walkWoff,
  woff2: walkWoff,
  ttf: walkSfnt,
  otf: walkSfnt,
  pdf: walkPdf,
  ico: walkIco,
  mp4: walkMp4,
  webm: walkWhole,
  mp3: walkWhole,
};

/** `what` is the end of "its contents …". */
export type StructureFault = { what: string; reason?: 'truncated' | 'pixels' };

// The maximum of the build's image library, all frames together: 16,383 squared.
const pixelsMax = 268_402_689;

/** The fault in the bytes of a file of this format; undefined for a valid file. Reads to the end, or to the first fault. */
export async function structureFault(
  format: string,
  content: AsyncIterable<Buffer>,
): Promise<StructureFault | undefined> {
  const walk = walks[format];
  if (!walk) return undefined;
  const markup = watchForMarkup(content);
  try {
    const walked = await walk(new ByteReader(markup.content));
    const fault = typeof walked === 'object' ? pixelFault(walked) : walked;
    const what = fault ?? markup.fault();
    return typeof what === 'string' ? { what } : what;
  } catch (error) {
    if (error instanceof UnexpectedEnd) {
      return { what: 'end unexpectedly: the file is truncated', reason: 'truncated' };
    }
    throw error;
  }
}

function pixelFault(walked: Walked): StructureFault | string | undefined {
  if ('fault' in walked && walked.fault !== undefined) return walked.fault;
  const { width, height, frames } = walked as Exclude<Walked, { fault: string }>;
  if (width < 1 || height < 1) return 'do not specify the image size';
  if (width * height * frames <= pixelsMax) return undefined;
  const times = frames > 1 ? `, ${frames} times` : '';
  const what = `decode to ${width} × ${height} pixels${times}, which is more than the build can process`;
  return { what, reason: 'pixels' };
}

/** Passes the bytes through and detects HTML or a script among them: images and fonts contain neither. */
function watchForMarkup(content: AsyncIterable<Buffer>) {
  let found: string | undefined;
  async function* watched(): AsyncGenerator<Buffer> {
    let before = '';
    for await (const chunk of content) {
      const text = before + chunk.toString('latin1');
      found ??= /<(script|!doctype html|iframe|\?php)[\s>]/i.exec(text)?.[1];
      before = text.slice(-20);
      yield chunk;
    }
  }
  return {
    content: watched(),
    fault: () => (found === undefined ? undefined : `include part of a web page or script (<${found.toLowerCase()}>)`),
  };
}
