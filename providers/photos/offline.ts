/** A few pictures of our own, for installations without a photo library. `tools/scripts/draw-photos.ts` draws them. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type LibraryPhoto, type PhotoLibrary, PhotosFault } from '#providers/photos.ts';

const dir = join(import.meta.dirname, 'offline');
const size = { width: 1600, height: 1067 };

/** The content of each picture, and its search words. */
export const scenes: Readonly<Record<string, { description: string; words: string }>> = {
  bread: {
    description: 'Loaves of bread on a shelf in warm light',
    words: 'bread bakery baker loaf shop food kitchen breakfast',
  },
  coffee: {
    description: 'A cup of coffee on a table, seen from above',
    words: 'coffee cafe cup table drink morning restaurant food',
  },
  dunes: { description: 'Dunes under a low sun', words: 'dunes desert sand sun landscape nature travel holiday' },
  harbour: {
    description: 'Sailing boats on calm water at dusk',
    words: 'harbour sea boat water sail evening holiday travel',
  },
  mountains: {
    description: 'Layers of blue mountains in the morning',
    words: 'mountain hills morning fog landscape nature hiking',
  },
  workshop: {
    description: 'Wooden planks in a workshop',
    words: 'workshop wood carpenter joiner plank craft tools floor',
  },
};

export function openOfflineLibrary(): PhotoLibrary {
  const fileOf = (reference: string): string => {
    if (!Object.hasOwn(scenes, reference)) throw new PhotosFault('refused');
    return join(dir, `${reference}.jpg`);
  };
  return {
    name: 'offline',
    all: Object.values(scenes).map(({ description }) => description),
    async search(query) {
      const asked = wordsOf(query);
      const hits = ({ words }: { words: string }) => {
        const known = wordsOf(words);
        return asked.filter((word) => known.includes(word)).length;
      };
      const fitting = Object.entries(scenes).filter(([, scene]) => hits(scene) > 0);
      const sorted = fitting.sort(([, one], [, other]) => hits(other) - hits(one));
      return sorted.map(([reference, { description }]) => view(reference, description));
    },
    file: async ({ reference }) => createReadStream(fileOf(reference)),
    thumb: ({ reference }) => readFile(fileOf(reference)),
  };
}

/** The words of a text, without a plural `s`. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return words.filter(Boolean).map((word) => word.replace(/s$/, ''));
}

function view(reference: string, description: string): LibraryPhoto {
  const address = `https://example.com/photos/${reference}`;
  return {
    reference,
    description,
    ...size,
    creditName: 'Frontage',
    creditUrl: 'https://example.com/',
    pageUrl: address,
    fileUrl: address,
    thumbUrl: address,
  };
}
